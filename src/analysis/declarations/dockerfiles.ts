/**
 * Dockerfiles of any usual name. Which app one speaks of: the one in its own folder if there is a project; else the
 * one it is named after (`docker/web/Dockerfile`, `web.Dockerfile`); else the folder in which most of what it copies
 * is found, for that is the context it is built with. For developing and testing alone, it is not read.
 */
import { toolVersion } from '../ecosystems/tool-versions.ts';
import { Project } from '../project.ts';
import {
  type Dockerfile,
  type DockerfileStage,
  mistakeIn,
  parseDockerfile,
  type Run,
} from '../readers/dockerfile.ts';
import { valueAt } from '../readers/shape.ts';
import { join, nameOf, type Repository } from '../repository.ts';
import { isAnalysed } from '../variables/analysed-folders.ts';
import { mentioned } from '../variables/variable.ts';
import { commandOf } from './commands.ts';
import { DeclarationFile, type DeclarationFindings, precedence } from './declaration-file.ts';
import { dockerfileOwner } from './dockerfile-owner.ts';
import { languageOfImage, serviceOfImage } from './images.ts';

const fileName = /^(?:(?:Docker|Container|docker)file(?:[.-]([\w-]{1,40}))?|([\w-]{1,40})\.[dD]ockerfile)$/;
const notForProduction =
  /^(?:dev|devel|development|test|tests|testing|ci|local|debug|lint|e2e|docs|dockerignore|base|bench|cypress|playwright)$/i;

export function readDockerfiles(repository: Repository, findings: DeclarationFindings): void {
  const byOwner = new Map<string, { path: string; file: Dockerfile; rank: number }>();
  for (const path of dockerfilesIn(repository)) {
    const file = dockerfileAt(repository, path, findings);
    if (!file || serviceOfImage(file.stages.at(-1)?.image ?? '')) continue;
    const owner = dockerfileOwner(repository, path, file);
    const rank = rankOf(nameOf(path));
    if (owner !== undefined && rank > (byOwner.get(owner)?.rank ?? 0))
      byOwner.set(owner, { path, file, rank });
  }
  for (const [owner, path] of namedBefore(findings)) {
    const file = byOwner.get(owner)?.path === path ? undefined : dockerfileAt(repository, path, findings);
    if (file) byOwner.set(owner, { path, file, rank: 0 });
  }
  for (const [owner, { path, file }] of byOwner)
    read(new DeclarationFile(repository, path, {}, findings, precedence.dockerfile), owner, file);
}

/** Which one a platform's file names for a folder: what another says of its port and command is not for this app. */
function namedBefore({ declarations }: DeclarationFindings): ReadonlyMap<string, string> {
  const ordered = declarations.toSorted((one, other) => one.precedence - other.precedence);
  return new Map(
    ordered.flatMap(({ directory, draft }) =>
      draft.dockerfile ? [[directory, draft.dockerfile.value] as const] : [],
    ),
  );
}

/**
 * One that Docker would refuse stays the app's own: its author wants to know what is wrong with it, and where, and not
 * to be given another.
 */
function dockerfileAt(
  repository: Repository,
  path: string,
  { warnings }: DeclarationFindings,
): Dockerfile | undefined {
  const mistake = repository.parsed(path, 'mistake', mistakeIn);
  if (mistake) {
    const message = `${path}, line ${mistake.line}: ${mistake.what} Docker refuses the file.`;
    warnings.push({ code: 'invalid_dockerfile', message, file: path });
  }
  const file = repository.parsed(path, 'dockerfile', parseDockerfile);
  return file?.stages.length || file?.isOne ? file : undefined;
}

/** More than any repository has; each costs a parse. */
const mostFiles = 60;

function* dockerfilesIn(repository: Repository): Generator<string> {
  let count = 0;
  for (const [folder, { files }] of repository.directories) {
    if (!isAnalysed(repository, folder)) continue;
    for (const name of files) {
      const [whole, after, before] = fileName.exec(name) ?? [];
      if (whole && !notForProduction.test(after ?? before ?? '')) {
        count += 1;
        if (count > mostFiles) return;
        yield join(folder, name);
      }
    }
  }
}

function rankOf(name: string): number {
  if (/prod/i.test(name)) return 4;
  if (name === 'Dockerfile' || name === 'dockerfile') return 3;
  return name === 'Containerfile' ? 2 : 1;
}

function read(file: DeclarationFile, directory: string, { stages, args }: Dockerfile): void {
  const { path } = file;
  const last = stages.at(-1);
  if (!last) {
    file.declare({ directory, dockerfile: path });
    return;
  }
  file.declare({
    directory,
    dockerfile: path,
    start: startOf(last),
    port: last.ports[0] ?? last.env.get('PORT'),
    health: healthPathIn(last.healthcheck ?? ''),
    volumes: last.volumes.filter((volume) => volume.startsWith('/')),
  });
  hintLanguage(file, directory, stages);
  for (const [key, value] of args) {
    if (isOfTheBuilder(key)) continue;
    const source = { file: path, note: `ARG ${key}` };
    const variable = mentioned({ key, directory, source, value: value ?? undefined, build: true });
    if (variable) file.findings.variables.push(variable);
  }
}

const builderNames = new Set([
  // BuildKit's own.
  ...['TARGET', 'BUILD'].flatMap((of) => ['PLATFORM', 'OS', 'ARCH'].map((what) => of + what)),
  // Who owns the files in the image.
  ...['UID', 'GID', 'USER_ID', 'GROUP_ID', 'USER', 'USERNAME', 'GROUP', 'UNAME'],
  // How it is built, and where its things lie.
  ...['PORT', 'NODE_ENV', 'RAILS_ENV', 'MIX_ENV', 'WORKDIR', 'DEBIAN_FRONTEND', 'JAR_FILE', 'TZ'],
  ...['PROJECT', 'APP', 'APP_NAME', 'PACKAGE', 'BASE', 'REGISTRY', 'CONFIGURATION', 'BUILD_CONFIGURATION'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'],
  // Which commit it is, and when it was built.
  ...[
    'SHA',
    'COMMIT',
    'SOURCE_DATE_EPOCH',
    'BUILD_DATE',
    'BUILD_ID',
    'BUILD_NUMBER',
    'BUILD_HASH',
    'BUILD_TIME',
  ],
]);
const builderEndings = ['VERSION', 'IMAGE', 'TAG', 'DIGEST', 'VARIANT', '_DIR', '_HOME', '_PATH'];
const builderBeginnings = ['BUNDLE_', 'PIP_', 'POETRY_', 'GIT_', 'COMMIT'];

/** `${NODE_VERSION}`, `TARGETARCH` and the like are between the file and its builder. */
function isOfTheBuilder(key: string): boolean {
  const name = key.toUpperCase();
  return (
    builderNames.has(name) ||
    builderEndings.some((end) => name.endsWith(end)) ||
    builderBeginnings.some((begin) => name.startsWith(begin) && name.length > begin.length)
  );
}

/** Programs that only start another. */
const wrappers = new Set([
  ...['tini', 'dumb-init', 'catatonit', 'init', 's6-svscan', 'gosu', 'su-exec'],
  ...['docker-entrypoint', 'docker-entrypoint.sh', 'docker-php-entrypoint', 'docker-php-entrypoint.sh'],
  ...['entrypoint', 'entrypoint.sh', 'docker-start'],
]);
const webServers = new Set([
  ...['nginx', 'httpd', 'httpd-foreground', 'apache2-foreground', 'caddy', 'lighttpd'],
  ...['serve', 'http-server', 'static-web-server'],
]);

/** What the container runs. A web server that only hands out files is no command of the app. */
function startOf(stage: DockerfileStage): string | undefined {
  const entry = wordsOf(stage.entrypoint);
  const command = wordsOf(stage.command);
  const isWrapper =
    wrappers.has(nameOf(entry[0] ?? '')) ||
    (/^(?:\/bin\/|\/usr\/bin\/)?(?:ba|a)?sh$/.test(entry[0] ?? '') && command.length > 0);
  const rest = isWrapper ? entry.slice(1).filter((word) => word !== '--' && !/^-[a-z]$/.test(word)) : entry;
  const words = isWrapper && command.length > 0 ? command : [...rest, ...command];
  const line = words.length === 1 ? words[0] : commandOf(words);
  if (line === undefined || line === '' || servesFiles(line)) return undefined;
  return /^(?:bash|sh|\/bin\/(?:ba)?sh|node|python3?|irb|php)$/.test(line)
    ? undefined
    : line.replace(/^exec /, '');
}

function servesFiles(line: string): boolean {
  const words = line.replace(/^(?:npx|bunx|yarn|pnpm exec|sh -c) /, '').split(/\s+/);
  return words.some((word, at) => (at === 0 || word.includes('/')) && webServers.has(nameOf(word)));
}

function wordsOf(run: Run | null): readonly string[] {
  if (run === null) return [];
  return typeof run.words === 'string' ? [run.words.trim()].filter(Boolean) : run.words;
}

export function healthPathIn(command: string): string | undefined {
  return /https?:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])(?::[\w${}:-]{1,30})?(\/[\w./?=&%-]{0,200})/.exec(
    command.slice(0, 2_000),
  )?.[1];
}

/** Weaker than anything else: it only counts where nothing but the Dockerfile shows what this is. */
function hintLanguage(file: DeclarationFile, directory: string, stages: readonly DockerfileStage[]): void {
  const bases = stages.flatMap(({ image }) => languageOfImage(image) ?? []);
  const base = bases.find(({ language }) => language !== 'html') ?? bases[0];
  const isKnown = base === undefined || saysVersion(new Project(file.repository, directory), base.tool);
  file.declare({
    directory,
    precedence: 0.1,
    language: base?.language,
    versions: base?.version === undefined || isKnown ? {} : { [base.tool]: base.version },
  });
}

/** Whether the project itself names a version of the tool, so that the image need not be asked. */
function saysVersion(project: Project, tool: string): boolean {
  if (tool === 'go' || tool === 'rust' || tool === 'dotnet' || tool === 'java') return true;
  if (toolVersion(project, tool)) return true;
  if (tool === 'node') {
    const manifest = project.json('package.json');
    return valueAt(manifest, 'engines', 'node') !== undefined || manifest?.volta !== undefined;
  }
  return tool === 'python' && (project.text('pyproject.toml') ?? '').includes('python');
}
