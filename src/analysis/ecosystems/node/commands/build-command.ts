/**
 * How a package is built, as typed in its folder. A member of a workspace that uses other members which are built
 * themselves needs those first: the tool of the workspace does that, else the package manager.
 */
import { certain, conventional, type Evidenced, evidenced } from '../../../evidence.ts';
import type { NodeFramework } from '../frameworks/framework.ts';
import type { NodePackage } from '../node-package.ts';
import { packageFolders } from '../package-manager/dependents.ts';
import { runProgram, runScript } from '../package-manager/manager-commands.ts';
import { packageIn } from '../package-manager/package-json.ts';
import type { NodeManager } from '../package-manager/package-manager.ts';
import { workspaceRootOf, workspaceTool } from '../package-manager/workspaces.ts';
import { isBuilding, isDeveloping } from './script-kinds.ts';

const buildScripts = ['build', 'build:prod', 'build:production', 'compile', 'bundle'];
const staticScripts = [...buildScripts, 'generate', 'export'];
/** Names that hosts look for. */
const hostScripts = ['heroku-postbuild', 'vercel-build', 'gcp-build', 'build:client'];

export function buildCommandOf(
  package_: NodePackage,
  framework: NodeFramework | undefined,
  needsBuild: boolean,
): Evidenced<string> | undefined {
  const { manifest, manager } = package_;
  const script = buildScriptOf(package_, framework);
  if (script !== undefined) {
    const command = withDependencies(package_, script) ?? runScript(manager, script);
    const certainty = hostScripts.includes(script) ? conventional : certain;
    const note = `${script}: ${manifest.scripts.get(script)?.slice(0, 120)}`;
    return evidenced(command, certainty, manifest.file, note);
  }
  if (!needsBuild || framework?.build === undefined) return undefined;
  if (framework.builtFrom && !package_.first(...framework.builtFrom)) return undefined;
  const isNode = framework.build.startsWith('node ');
  const command = isNode ? framework.build : runProgram(manager, framework.build);
  return evidenced(command, conventional, manifest.file, `convention of ${framework.name}`);
}

/** The script that builds: by its name, else by what it runs (`docs:build` runs `vitepress build`). */
export function buildScriptOf(
  package_: NodePackage,
  framework: NodeFramework | undefined,
): string | undefined {
  const names = framework && framework.kind !== 'server' ? staticScripts : buildScripts;
  const named = names.find((name) => isBuilt(package_, name));
  if (named !== undefined) return named;
  // Laravel Mix calls it so; elsewhere the same names start the app.
  const spoken = ['production', 'prod'].find((name) => package_.commands(name).some(isBuilding));
  if (spoken !== undefined) return spoken;
  const [program, verb] = framework?.build?.split(' ') ?? [];
  // One that starts the app in the end (`next build && next start`) is no build.
  const running = [...package_.manifest.scripts.keys()].find(
    (name) =>
      !/^(?:pre)?start\b|^(?:dev|serve)\b/.test(name) &&
      package_
        .commands(name)
        .some(
          (each) =>
            each.program === program && verb !== undefined && each.args.includes(verb) && !isDeveloping(each),
        ),
  );
  return running ?? hostScripts.find((name) => isBuilt(package_, name));
}

/** `echo` and the like only fill the place. */
function isBuilt(package_: NodePackage, name: string): boolean {
  return package_.commands(name).some(({ program }) => !/^(?:echo|exit|true|:|noop)$/.test(program));
}

function withDependencies(package_: NodePackage, script: string): string | undefined {
  const { repository, path, manifest, manager } = package_;
  const root = workspaceRootOf(repository, path);
  if (
    root === undefined ||
    root === path ||
    manifest.name === undefined ||
    !/^[@\w][\w./@-]*$/.test(manifest.name)
  )
    return undefined;
  const needed = builtDependencies(package_, script);
  if (needed.length === 0) return undefined;
  const tool = workspaceTool(repository, root);
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
function builtDependencies({ repository, path }: NodePackage, script: string): readonly string[] {
  const folders = packageFolders(repository);
  const found: string[] = [];
  const seen = new Set<string>([path]);
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
  visit(path, 0);
  return found;
}
