/**
 * How a package is built, as typed in its folder. A member of a workspace that uses other members which are built
 * themselves needs those first: the tool of the workspace does that, else the package manager is told to.
 */
import { certain, conventional, type Evidenced, evidenced } from '../../evidence.ts';
import { packageFolders } from './dependents.ts';
import type { Framework } from './frameworks.ts';
import { runProgram, runScript } from './manager-commands.ts';
import { type PackageContext, scriptCommands } from './package-context.ts';
import { packageIn } from './package-json.ts';
import type { NodeManager } from './package-manager.ts';
import { isBuilding, isDeveloping } from './script-kinds.ts';
import { toolOf, workspaceRootOf } from './workspaces.ts';

const buildScripts = ['build', 'build:prod', 'build:production', 'compile', 'bundle'];
const staticScripts = [...buildScripts, 'generate', 'export'];
/** Names that hosts look for. */
const hostScripts = ['heroku-postbuild', 'vercel-build', 'gcp-build', 'build:client'];

export function buildCommandOf(
  context: PackageContext,
  framework: Framework | undefined,
  needsBuild: boolean,
): Evidenced<string> | undefined {
  const { manifest, manager, directory, repository } = context;
  const script = buildScriptOf(context, framework);
  if (script !== undefined) {
    const command = withDependencies(context, script) ?? runScript(manager, script);
    const text = manifest.scripts.get(script)?.slice(0, 120);
    return evidenced(
      command,
      hostScripts.includes(script) ? conventional : certain,
      manifest.file,
      `${script}: ${text}`,
    );
  }
  if (!needsBuild || framework?.build === undefined) return undefined;
  const own = ['index.html', ...(framework.configs ?? [])];
  if (framework.build === 'vite build' && !repository.firstOf(directory.path, own)) return undefined;
  const isNode = framework.build.startsWith('node ');
  const command = isNode ? framework.build : runProgram(manager, framework.build);
  return evidenced(command, conventional, manifest.file, `custom of ${framework.name}`);
}

/** The script that builds: by its name, else by what it runs (`docs:build` runs `vitepress build`). */
export function buildScriptOf(context: PackageContext, framework: Framework | undefined): string | undefined {
  const names = framework && framework.kind !== 'server' ? staticScripts : buildScripts;
  const named = names.find((name) => isBuilt(context, name));
  if (named !== undefined) return named;
  // Laravel Mix calls it so; elsewhere the same names start the app.
  const spoken = ['production', 'prod'].find((name) => scriptCommands(context, name).some(isBuilding));
  if (spoken !== undefined) return spoken;
  const [program, verb] = framework?.build?.split(' ') ?? [];
  const running = [...context.manifest.scripts.keys()].find((name) =>
    scriptCommands(context, name).some(
      (each) =>
        each.program === program && verb !== undefined && each.args.includes(verb) && !isDeveloping(each),
    ),
  );
  return running ?? hostScripts.find((name) => isBuilt(context, name));
}

/** `echo` and the like only fill the place. */
function isBuilt(context: PackageContext, name: string): boolean {
  return scriptCommands(context, name).some(({ program }) => !/^(?:echo|exit|true|:|noop)$/.test(program));
}

function withDependencies(context: PackageContext, script: string): string | undefined {
  const { repository, directory, manifest, manager } = context;
  const root = workspaceRootOf(repository, directory.path);
  if (
    root === undefined ||
    root === directory.path ||
    manifest.name === undefined ||
    !/^[@\w][\w./@-]*$/.test(manifest.name)
  )
    return undefined;
  const needed = builtDependencies(context, script);
  if (needed.length === 0) return undefined;
  const tool = toolOf(repository, root);
  if (tool === 'turborepo') return runProgram(manager, `turbo run ${script} --filter=${manifest.name}`);
  if (tool === 'nx') return runProgram(manager, `nx run ${manifest.name}:${script}`);
  if (tool === 'lerna')
    return runProgram(manager, `lerna run ${script} --scope=${manifest.name} --include-dependencies`);
  return byManager(manager, manifest.name, needed, script);
}

function byManager(manager: NodeManager, name: string, needed: readonly string[], script: string): string {
  const own = runScript(manager, script);
  switch (manager.name) {
    case 'pnpm':
      return `pnpm --filter ${name}... run ${script}`;
    case 'npm':
      return `npm run ${script} ${[...needed, name].map((each) => `--workspace=${each}`).join(' ')}`;
    case 'bun':
      return [...needed.map((each) => `bun run --filter ${each} ${script}`), own].join(' && ');
    default:
      return [...needed.map((each) => `yarn workspace ${each} run ${script}`), own].join(' && ');
  }
}

/** Names of members that it uses, by themselves or through others, and that have a build; those needed first come first. */
function builtDependencies({ repository, directory }: PackageContext, script: string): readonly string[] {
  const folders = packageFolders(repository);
  const found: string[] = [];
  const seen = new Set<string>([directory.path]);
  const visit = (folder: string, depth: number): void => {
    const manifest = packageIn(repository, folder);
    if (!manifest || depth > 20) return;
    for (const name of [...manifest.dependencies.keys(), ...manifest.devDependencies.keys()]) {
      const next = folders.get(name);
      if (next === undefined || seen.has(next)) continue;
      seen.add(next);
      visit(next, depth + 1);
      if (packageIn(repository, next)?.scripts.has(script)) found.push(name);
    }
  };
  visit(directory.path, 0);
  return found;
}
