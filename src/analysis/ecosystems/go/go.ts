/**
 * Go: modules and what they build. A module at the top with commands under `cmd/` is one app; the commands that are
 * named after background work are its processes.
 */
import type { Candidate, Detector } from '../../detector.ts';
import { certain, conventional, type Evidenced, evidenced, firstEvidenced, guessed } from '../../evidence.ts';
import { join, nameOf, parentOf, type Repository } from '../../repository.ts';
import type { Process } from '../../result.ts';
import { findIn, findInAny, ownSources, within } from '../code.ts';
import { healthInCode } from '../code-health.ts';
import { portInCode } from '../code-port.ts';
import { candidate, manager, versionsOf, worker } from '../draft.ts';
import { sqliteVolumes } from '../sqlite-volumes.ts';
import { toolVersion } from '../tool-versions.ts';
import { type GoModule, readGoModule } from './go-module.ts';

const boundaries = ['go.mod'];

export const go: Detector = {
  name: 'go',
  detect({ path, files }, repository) {
    const hasModule = files.has('go.mod');
    const isLone = path === repository.root && [...files].some((name) => name.endsWith('.go'));
    if (!hasModule && !isLone) return [];
    const module = hasModule ? readGoModule(repository, join(path, 'go.mod')) : undefined;
    const sources = ownSources(repository, path, ['.go'], boundaries).filter(
      (each) => !each.endsWith('_test.go'),
    );
    return [describe(repository, path, module, sources)];
  },
};

function describe(
  repository: Repository,
  directory: string,
  module: GoModule | undefined,
  sources: readonly string[],
): Candidate {
  const mains = mainFolders(repository, directory, sources);
  const file = module?.file ?? sources[0] ?? join(directory, 'main.go');
  const chosen = chooseMain(mains, directory, module?.path ?? '');
  const others = mains.filter((folder) => folder !== chosen && isBackground(folder));
  const framework = module?.framework;
  const chosenFiles = chosen === undefined ? [] : sources.filter((path) => parentOf(path) === chosen);
  const port = portInCode(repository, [...chosenFiles, ...sources]);
  const listens =
    port ?? findInAny(repository, sources, /\b(?:http\.Serve|ListenAndServe|net\.Listen|\.Listen\(|\.Run\()/);
  const fallback = framework?.port ?? (listens ? 8080 : null);
  const goMod = module?.version;
  const draft = {
    name: module && evidenced(nameOf(module.path.replace(/\/v\d+$/, '')), certain, file, 'module'),
    language: evidenced('go', certain, file, 'Go'),
    framework: framework && evidenced(framework.name, certain, file, framework.module),
    packageManager: manager('go', repository.firstOf(directory, ['go.sum']), file),
    versions: versionsOf({ go: firstEvidenced(goMod, toolVersion(repository, directory, 'go')) }),
    installCommand: module && evidenced('go mod download', conventional, file, 'modules'),
    ...commands(repository, directory, module, chosen, others, sources),
    port:
      port ??
      evidenced(fallback, framework ? conventional : guessed, file, framework?.name ?? 'no port in the code'),
    healthPath: healthInCode(repository, sources),
    volumes: sqliteVolumes(repository, directory, sources),
  };
  const score = chosen === undefined ? 0.3 : framework ? 0.9 : module ? 0.8 : 0.4;
  return candidate('go', directory, score, draft, chosen === undefined ? 'library' : 'app');
}

/** Folders whose files are `package main` with a `main`. */
function mainFolders(
  repository: Repository,
  directory: string,
  sources: readonly string[],
): readonly string[] {
  const found = new Set<string>();
  for (const path of sources) {
    const folder = parentOf(path) ?? '';
    if (found.has(folder) || within(directory, path).split('/').length > 5) continue;
    if (findIn(repository, path, /^package main\b/) && findIn(repository, path, /^func main\(\)/))
      found.add(folder);
  }
  return [...found];
}

const backgroundNames = /^(?:.*[-_])?(?:worker|workers|consumer|scheduler|jobs?|queue|cron)$/;
const serverNames = /^(?:.*[-_])?(?:server|api|web|http|httpd|app|service|serve|backend|main|cmd)$/;
const toolNames =
  /^(?:.*[-_])?(?:migrate|migrations?|migrator|seed|seeder|cli|tool|tools|gen|generate|client|ctl)$/;

function isBackground(folder: string): boolean {
  return backgroundNames.test(nameOf(folder));
}

function chooseMain(mains: readonly string[], directory: string, module: string): string | undefined {
  if (mains.includes(directory)) return directory;
  const name = nameOf(module);
  const isTool = (folder: string) => isBackground(folder) || toolNames.test(nameOf(folder));
  return (
    mains.find((folder) => nameOf(folder) === name) ??
    mains.find((folder) => serverNames.test(nameOf(folder)) && !isTool(folder)) ??
    mains.find((folder) => !isTool(folder)) ??
    mains[0]
  );
}

function commands(
  repository: Repository,
  directory: string,
  module: GoModule | undefined,
  chosen: string | undefined,
  others: readonly string[],
  sources: readonly string[],
): {
  buildCommand?: Evidenced<string>;
  startCommand?: Evidenced<string>;
  processes?: readonly Evidenced<Process>[];
} {
  if (chosen === undefined) return {};
  const inside = within(directory, chosen === directory ? directory : chosen);
  const folder = chosen === directory ? '.' : `./${inside}`;
  const source = sources.find((path) => parentOf(path) === chosen) ?? chosen;
  const argument = subcommand(repository, module, sources);
  const say = (command: string) => evidenced(command, conventional, source, 'package main');
  if (!module) {
    const names = sources.filter((path) => parentOf(path) === chosen).map((path) => within(directory, path));
    return { buildCommand: say(`go build -o out ${names.join(' ')}`), startCommand: say('./out') };
  }
  if (others.length === 0) {
    return { buildCommand: say(`go build -o out ${folder}`), startCommand: say(`./out${argument}`) };
  }
  const all = [folder, ...others.map((each) => `./${within(directory, each)}`)];
  const binary = chosen === directory ? nameOf(module.path.replace(/\/v\d+$/, '')) : nameOf(chosen);
  return {
    buildCommand: say(`go build -o bin/ ${all.join(' ')}`),
    startCommand: say(`./bin/${binary}${argument}`),
    processes: others.map((each) => worker(nameOf(each), `./bin/${nameOf(each)}`, each, 'package main')),
  };
}

/** A program with commands does nothing without one. */
function subcommand(
  repository: Repository,
  module: GoModule | undefined,
  sources: readonly string[],
): string {
  if (module?.framework?.name === 'pocketbase') return ' serve --http=0.0.0.0:$PORT';
  if (!module?.requires.some((each) => /^github\.com\/(?:spf13\/cobra|urfave\/cli)/.test(each))) return '';
  const hit = findInAny(repository, sources, /\b(?:Use|Name):\s*"(serve|server|start|run|web|api|http)\b/);
  return hit ? ` ${hit.match[1]}` : '';
}
