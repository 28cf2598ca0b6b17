/**
 * Go: modules and what they build. A module at the top with commands under `cmd/` is one app; the commands that are
 * named after background work are its processes.
 */
import type { Candidate, Detector } from '../../detector.ts';
import { certain, conventional, type Evidenced, evidenced } from '../../evidence.ts';
import type { Project } from '../../project.ts';
import { join, nameOf, parentOf } from '../../repository.ts';
import type { Process } from '../../result.ts';
import { healthInCode } from '../code-health.ts';
import { portInCode, usualPort } from '../code-port.ts';
import { candidate, manager, versionsOf, worker } from '../draft.ts';
import { sqliteVolumes } from '../sqlite-volumes.ts';
import { toolVersion } from '../tool-versions.ts';
import { pinOrLeast } from '../version-lines.ts';
import { namedMember, workspaceFinder } from '../workspace-members.ts';
import { type GoModule, readGoModule } from './go-module.ts';

export const go: Detector = {
  name: 'go',
  detect(project) {
    const file = project.first('go.mod');
    if (file === undefined && !(project.isRoot && project.endings.has('go'))) return [];
    const module = file === undefined ? undefined : readGoModule(project.repository, file);
    const sources = project.sources(['.go'], ['go.mod']).filter((path) => !path.endsWith('_test.go'));
    return [describe(project, module, sources)];
  },
};

export const goWorkspace = workspaceFinder('go', ['go.work'], 'use', (repository, file, root) => {
  let isInside = false;
  return repository.lines(file).flatMap((line) => {
    const text = line.split('//')[0]?.trim() ?? '';
    const name = /^use\s+([^\s(]+)$/.exec(text)?.[1] ?? (isInside && text !== ')' ? text : undefined);
    if (/^use\s*\($/.test(text)) isInside = true;
    else if (text === ')') isInside = false;
    const member = name ? namedMember(root, name.replaceAll('"', '')) : undefined;
    return member !== undefined && repository.has(join(member, 'go.mod')) ? [member] : [];
  });
});

function describe(project: Project, module: GoModule | undefined, sources: readonly string[]): Candidate {
  const { repository, path } = project;
  const mains = mainFolders(project, sources);
  const file = module?.file ?? sources[0] ?? project.at('main.go');
  const chosen = chooseMain(mains, path, module?.path ?? '');
  const framework = module?.framework;
  const chosenFiles = sources.filter((each) => parentOf(each) === chosen);
  const port = portInCode(repository, [...chosenFiles, ...sources]);
  const listens = repository.find(sources, /\b(?:http\.Serve|ListenAndServe|net\.Listen|\.Listen\(|\.Run\()/);
  const draft = {
    name: module && evidenced(nameOf(module.path.replace(/\/v\d+$/, '')), certain, file, 'module'),
    language: evidenced('go', certain, file, 'Go'),
    framework: framework && evidenced(framework.name, certain, file, framework.module),
    packageManager: manager('go', project.first('go.sum'), file),
    versions: versionsOf({ go: pinOrLeast(toolVersion(project, 'go'), module?.version) }),
    installCommand: module && evidenced('go mod download', conventional, file, 'modules'),
    ...(chosen === undefined ? {} : commands(project, module, chosen, mains, sources)),
    port: port ?? usualPort(framework, file, listens ? 8080 : null),
    healthPath: healthInCode(repository, sources),
    ...sqliteVolumes(project, sources),
  };
  const score = chosen === undefined ? 0.3 : framework ? 0.9 : module ? 0.8 : 0.4;
  return candidate('go', path, score, draft, chosen === undefined ? 'library' : 'app');
}

/** Folders whose files are `package main` with a `main`. */
function mainFolders(project: Project, sources: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const path of sources) {
    const folder = parentOf(path) ?? '';
    if (found.has(folder) || project.relative(path).split('/').length > 5) continue;
    const has = (pattern: RegExp) => project.repository.find(path, pattern) !== undefined;
    if (has(/^package main\b/) && has(/^func main\(\)/)) found.add(folder);
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
  project: Project,
  module: GoModule | undefined,
  chosen: string,
  mains: readonly string[],
  sources: readonly string[],
): {
  buildCommand: Evidenced<string>;
  startCommand: Evidenced<string>;
  processes?: readonly Evidenced<Process>[];
} {
  const isTop = chosen === project.path;
  const folder = isTop ? '.' : `./${project.relative(chosen)}`;
  const own = sources.filter((path) => parentOf(path) === chosen);
  const say = (command: string) => evidenced(command, conventional, own[0] ?? chosen, 'package main');
  if (!module) {
    const names = own.map((path) => project.relative(path));
    return { buildCommand: say(`go build -o out ${names.join(' ')}`), startCommand: say('./out') };
  }
  const argument = subcommand(project, module, sources);
  const others = mains.filter((each) => each !== chosen && isBackground(each));
  if (others.length === 0)
    return { buildCommand: say(`go build -o out ${folder}`), startCommand: say(`./out${argument}`) };
  const all = [folder, ...others.map((each) => `./${project.relative(each)}`)];
  const binary = isTop ? nameOf(module.path.replace(/\/v\d+$/, '')) : nameOf(chosen);
  return {
    buildCommand: say(`go build -o bin/ ${all.join(' ')}`),
    startCommand: say(`./bin/${binary}${argument}`),
    processes: others.map((each) => worker(nameOf(each), `./bin/${nameOf(each)}`, each, 'package main')),
  };
}

/** A program with commands does nothing without one. */
function subcommand({ repository }: Project, module: GoModule, sources: readonly string[]): string {
  if (module.framework?.name === 'pocketbase') return ' serve --http=0.0.0.0:$PORT';
  if (!module.requires.some((each) => /^github\.com\/(?:spf13\/cobra|urfave\/cli)/.test(each))) return '';
  const name = repository.capture(sources, /\b(?:Use|Name):\s*"(serve|server|start|run|web|api|http)\b/);
  return name === undefined ? '' : ` ${name}`;
}
