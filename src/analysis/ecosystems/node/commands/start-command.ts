/** How the app is started when it is not being developed. */
import { certain, conventional, type Evidenced, evidenced, guessed } from '../../../evidence.ts';
import type { NodeFramework } from '../frameworks/framework.ts';
import type { NodePackage } from '../node-package.ts';
import { runProgram, runScript } from '../package-manager/manager-commands.ts';
import { builtFile, entryFile, listens } from './entry-file.ts';
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
const productionScripts =
  'start:prod start:production start-prod prod production serve:prod start:server start:web start:ssr'.split(
    ' ',
  );
const otherScripts = ['serve', 'server', 'start:node', 'run', 'start-server', 'up', 'deploy:start'];

export function startOf(
  package_: NodePackage,
  framework?: NodeFramework,
  byFramework?: Evidenced<string>,
): Start | undefined {
  const fitting = (name: string) => scriptStart(package_, name);
  const start = fitting('start');
  const ownNames = [...package_.manifest.scripts.keys()].filter((name) => name.startsWith('serve:ssr'));
  const production = [...productionScripts, ...ownNames].map(fitting).find((each) => each !== undefined);
  // `nest start` compiles anew; what Nest writes beside it runs what was built.
  if (production && (!start || isRebuilding(start))) return production;
  if (start) return start;
  const developed = fromDeveloping(package_);
  if (developed) return plain(developed);
  const usual = byFramework ?? (framework && ofFramework(package_, framework));
  if (usual) return plain(usual);
  const other = otherScripts.map(fitting).find((each) => each !== undefined && !each.isServing);
  return other ?? fromEntry(package_);
}

/** A command that no script has. */
function plain(command: Evidenced<string>): Start {
  return { command, commands: [], isServing: false };
}

/** They make room, wait or compile for what is started after them. */
const preparing = new Set('echo exit rm rimraf mkdir cp cd tsc sleep true wait-on'.split(' '));

function scriptStart(package_: NodePackage, name: string): Start | undefined {
  const { manifest, manager } = package_;
  const text = manifest.scripts.get(name);
  const commands = package_.commands(name);
  const main = commands.filter(({ program }) => !preparing.has(program));
  if (text === undefined || /no (?:test|start) specified/i.test(text)) return undefined;
  if (main.length === 0 || main.some(isDeveloping) || main.every(isDirecting) || main.every(isBuilding))
    return undefined;
  const note = `${name}: ${text.slice(0, 120)}`;
  const command = evidenced(runScript(manager, name), certain, manifest.file, note);
  return { command, commands, isServing: main.some(isServing) };
}

function isRebuilding({ commands }: Start): boolean {
  return commands.some(
    ({ program, args }) => program === 'nest' || (program === 'ts-node' && args.length > 0),
  );
}

/** `nodemon server.js` names what is run, only not how. */
function fromDeveloping(package_: NodePackage): Evidenced<string> | undefined {
  for (const script of ['start', 'dev', 'serve', 'develop']) {
    for (const { program, args } of package_.commands(script)) {
      const isWatched =
        /^(?:node|bun|tsx)$/.test(program) && args.some((arg) => /^(?:--watch|--hot|watch)/.test(arg));
      if (!isWatched && !/^(?:nodemon|ts-node-dev|tsnd|node-dev|supervisor)$/.test(program)) continue;
      const given = args.find(
        (arg) =>
          /^[\w./-]+\.[cm]?[jt]sx?$/.test(arg) ||
          (!arg.startsWith('-') && /^(?:\.|[\w./-]+\/[\w-]+)$/.test(arg)),
      );
      const file = given === '.' || given === undefined ? entryFile(package_) : given.replace(/^\.\//, '');
      const tried = ['', '.js', '.ts', '.mjs', '/index.js', '/index.ts'].map((end) => `${file}${end}`);
      if (file === undefined || !package_.first(...tried)) continue;
      const note = `${script} watches ${file}`;
      return evidenced(runFile(package_, file), conventional, package_.manifest.file, note);
    }
  }
  return undefined;
}

function ofFramework(package_: NodePackage, framework: NodeFramework): Evidenced<string> | undefined {
  const { manifest, manager } = package_;
  const { name, start } = framework;
  const given = typeof start === 'function' ? start(package_) : start;
  if (given === undefined) return undefined;
  const command = given.startsWith('node ') ? given : runProgram(manager, given);
  return evidenced(command, conventional, manifest.file, `convention of ${name}`);
}

function fromEntry(package_: NodePackage): Start | undefined {
  const file = entryFile(package_);
  if (file === undefined) return undefined;
  const isSure = listens(package_, file) || package_.manifest.main !== undefined;
  const certainty = isSure ? conventional : guessed;
  return plain(evidenced(runFile(package_, file), certainty, package_.at(file), 'the file to start with'));
}

/** TypeScript is run as it was built, where it is built; else by what can run it. */
function runFile(package_: NodePackage, file: string): string {
  const { manager } = package_;
  if (manager.name === 'bun') return `bun run ${file}`;
  if (!/\.[cm]?tsx?$/.test(file)) return `node ${file}`;
  const built = package_.commands('build').length > 0 ? builtFile(package_, file) : undefined;
  if (built !== undefined) return `node ${built}`;
  if (package_.dependsOn('tsx')) return runProgram(manager, `tsx ${file}`);
  if (package_.dependsOn('ts-node')) return runProgram(manager, `ts-node ${file}`);
  return package_.dependsOn('@swc-node/register') ? `node -r @swc-node/register ${file}` : `node ${file}`;
}
