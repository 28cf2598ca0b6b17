/** How the app is started when it is not being developed. */

import { certain, conventional, type Evidenced, evidenced, guessed } from '../../evidence.ts';
import { join } from '../../repository.ts';
import { builtFile } from './built-file.ts';
import { entryFile, listensIn } from './entry-file.ts';
import type { Framework } from './frameworks.ts';
import { runProgram, runScript } from './manager-commands.ts';
import { type PackageContext, scriptCommands } from './package-context.ts';
import { dependsOn } from './package-json.ts';
import type { ScriptCommand } from './script-commands.ts';
import { isBuilding, isDeveloping, isDirecting, isServing } from './script-kinds.ts';

export interface Start {
  readonly command: Evidenced<string>;
  /** The commands behind it, for whoever looks for a port. */
  readonly commands: readonly ScriptCommand[];
  /** It only hands out files that a build has made. */
  readonly isServing: boolean;
}

/** Scripts that somebody made for running in production, the surest first. */
const productionScripts = [
  'start:prod',
  'start:production',
  'start-prod',
  'prod',
  'production',
  'serve:prod',
  'start:server',
  'start:web',
  'start:ssr',
];
const otherScripts = ['serve', 'server', 'start:node', 'run', 'start-server', 'up', 'deploy:start'];

export function startOf(
  context: PackageContext,
  framework: Framework | undefined,
  byFramework: Evidenced<string> | undefined,
): Start | undefined {
  const fitting = (name: string) => scriptStart(context, name);
  const start = fitting('start');
  const ownNames = [...context.manifest.scripts.keys()].filter((name) => name.startsWith('serve:ssr'));
  const production = [...productionScripts, ...ownNames].map(fitting).find((each) => each !== undefined);
  // `nest start` compiles anew; what Nest writes beside it runs what was built.
  if (production && (!start || isRebuilding(start))) return production;
  if (start) return start;
  const developed = fromDeveloping(context);
  if (developed) return developed;
  const custom = byFramework ?? ofFramework(context, framework);
  if (custom) return { command: custom, commands: [], isServing: false };
  const other = otherScripts.map(fitting).find((each) => each !== undefined && !each.isServing);
  return other ?? fromEntry(context);
}

function scriptStart(context: PackageContext, name: string): Start | undefined {
  const text = context.manifest.scripts.get(name);
  const commands = scriptCommands(context, name);
  const main = commands.filter(
    ({ program }) => !/^(?:echo|exit|rm|rimraf|mkdir|cp|cd|tsc|sleep|true|wait-on)$/.test(program),
  );
  if (text === undefined || /no (?:test|start) specified/i.test(text)) return undefined;
  if (main.length === 0 || main.some(isDeveloping) || main.every(isDirecting) || main.every(isBuilding))
    return undefined;
  const command = evidenced(
    runScript(context.manager, name),
    certain,
    context.manifest.file,
    `${name}: ${text.slice(0, 120)}`,
  );
  return { command, commands, isServing: main.some(isServing) };
}

function isRebuilding({ commands }: Start): boolean {
  return commands.some(
    ({ program, args }) => program === 'nest' || (program === 'ts-node' && args.length > 0),
  );
}

/** `nodemon server.js` tells what is run, only not how. */
function fromDeveloping(context: PackageContext): Start | undefined {
  for (const script of ['start', 'dev', 'serve', 'develop']) {
    for (const { program, args } of scriptCommands(context, script)) {
      const isNode =
        (program === 'node' || program === 'bun' || program === 'tsx') &&
        args.some((arg) => /^(?:--watch|--hot|watch)/.test(arg));
      if (!isNode && !/^(?:nodemon|ts-node-dev|tsnd|node-dev|supervisor)$/.test(program)) continue;
      const file = args.find(
        (arg) =>
          /^[\w./-]+\.[cm]?[jt]sx?$/.test(arg) ||
          (!arg.startsWith('-') && /^(?:\.|[\w./-]+\/[\w-]+)$/.test(arg)),
      );
      const plain = file === '.' || file === undefined ? entryFile(context) : file.replace(/^\.\//, '');
      if (plain === undefined || !exists(context, plain)) continue;
      const command = runFile(context, plain);
      return {
        command: evidenced(command, conventional, context.manifest.file, `${script} watches ${plain}`),
        commands: [],
        isServing: false,
      };
    }
  }
  return undefined;
}

function exists({ repository, directory }: PackageContext, file: string): boolean {
  return ['', '.js', '.ts', '.mjs', '/index.js', '/index.ts'].some((ending) =>
    repository.has(join(directory.path, `${file}${ending}`)),
  );
}

function ofFramework(
  context: PackageContext,
  framework: Framework | undefined,
): Evidenced<string> | undefined {
  if (!framework) return undefined;
  const note = `custom of ${framework.name}`;
  if (framework.name === 'nest')
    return evidenced(`node ${nestOutput(context)}`, conventional, context.manifest.file, note);
  if (framework.name === 'adonisjs' && dependsOn(context.manifest, '@adonisjs/framework')) return undefined;
  if (framework.node !== undefined)
    return evidenced(framework.node, conventional, context.manifest.file, note);
  return framework.start === undefined
    ? undefined
    : evidenced(runProgram(context.manager, framework.start), conventional, context.manifest.file, note);
}

/** A build that also compiles what lies beside `src` keeps that folder. */
function nestOutput({ repository, directory }: PackageContext): string {
  const file = builtFile(repository, directory.path, 'src/main.ts');
  return (file ?? 'dist/main.js').replace(/\.js$/, '');
}

function fromEntry(context: PackageContext): Start | undefined {
  const file = entryFile(context);
  if (file === undefined) return undefined;
  const isSure = listensIn(context, file) || context.manifest.main !== undefined;
  const command = evidenced(
    runFile(context, file),
    isSure ? conventional : guessed,
    join(context.directory.path, file),
    'the file to start with',
  );
  return { command, commands: [], isServing: false };
}

/** TypeScript is run as it was built, where it is built; else by what can run it. */
export function runFile(context: PackageContext, file: string): string {
  const { manifest, manager, repository, directory } = context;
  const uses = (name: string) => dependsOn(manifest, name);
  if (manager.name === 'bun') return `bun run ${file}`;
  if (!/\.[cm]?tsx?$/.test(file)) return `node ${file}`;
  const built =
    scriptCommands(context, 'build').length > 0 ? builtFile(repository, directory.path, file) : undefined;
  if (built !== undefined) return `node ${built}`;
  if (uses('tsx')) return runProgram(manager, `tsx ${file}`);
  if (uses('ts-node')) return runProgram(manager, `ts-node ${file}`);
  return uses('@swc-node/register') ? `node -r @swc-node/register ${file}` : `node ${file}`;
}
