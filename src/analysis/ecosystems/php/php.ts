/** PHP: Composer projects, and pages without any. The document root is in the start command, after `-t`. */
import type { Candidate, Detector } from '../../detector.ts';
import { certain, conventional, type Evidenced, evidenced, firstEvidenced, guessed } from '../../evidence.ts';
import { isParsed, join, type Parsed, parentOf, type Repository } from '../../repository.ts';
import { findIn, ownSources } from '../code.ts';
import { healthInCode } from '../code-health.ts';
import { candidate, manager, versionsOf } from '../draft.ts';
import { sqliteVolumes, volumeOf } from '../sqlite-volumes.ts';
import { toolVersion } from '../tool-versions.ts';
import { versionLine } from '../version-lines.ts';
import { type PhpFramework, phpFramework } from './php-frameworks.ts';
import { phpProcesses, phpRelease } from './php-processes.ts';

export const php: Detector = {
  name: 'php',
  detect(directory, repository) {
    const { path, files } = directory;
    const isComposer = files.has('composer.json');
    if (!isComposer && !isLone(repository, path, files)) return [];
    return [describe(repository, path, isComposer)];
  },
};

/** Pages without Composer: an index.php that is in no project of another folder. */
function isLone(repository: Repository, path: string, files: ReadonlySet<string>): boolean {
  const isEntry =
    files.has('index.php') ||
    files.has('wp-load.php') ||
    (path === repository.root && hasPublicIndex(repository, path));
  if (!isEntry) return false;
  if (path === repository.root) return true;
  for (let at = parentOf(path); at !== undefined; at = parentOf(at)) {
    if (repository.firstOf(at, ['composer.json', 'index.php', 'wp-load.php'])) return false;
  }
  return true;
}

function hasPublicIndex(repository: Repository, path: string): boolean {
  return ['public', 'web', 'webroot', 'htdocs', 'www', 'src'].some((name) =>
    repository.has(join(path, `${name}/index.php`)),
  );
}

function describe(repository: Repository, directory: string, isComposer: boolean): Candidate {
  const file = join(directory, 'composer.json');
  const composer: Parsed = (isComposer ? repository.json(file) : undefined) ?? {};
  const requires = isParsed(composer.require) ? composer.require : {};
  const framework = phpFramework(repository, directory, new Set(Object.keys(requires)));
  const root = documentRoot(repository, directory, framework);
  const [first] = repository.filesUnder(directory, ['.php']);
  const source = isComposer ? file : (first ?? join(directory, 'index.php'));
  const sources = ownSources(repository, directory, ['.php'], ['composer.json']);
  const script = root === undefined ? loneScript(repository, directory) : undefined;
  const command = framework?.start ?? (root === undefined ? script : serve(root));
  const draft = {
    name: nameOf(composer, file),
    language: evidenced('php', certain, source, 'PHP'),
    framework: framework && evidenced(framework.name, certain, source, framework.mark),
    packageManager: isComposer
      ? manager('composer', repository.firstOf(directory, ['composer.lock']), file)
      : undefined,
    versions: versionsOf({ php: phpVersion(repository, directory, composer, requires, file) }),
    installCommand: isComposer
      ? evidenced('composer install --no-dev --optimize-autoloader', conventional, file, 'Composer')
      : undefined,
    startCommand:
      command === undefined
        ? undefined
        : evidenced(command, conventional, source, framework?.name ?? 'index.php'),
    releaseCommand: phpRelease(repository, directory, framework, requires),
    port: evidenced(
      root === undefined && !framework?.start ? null : (framework?.port ?? 8000),
      conventional,
      source,
      'PHP',
    ),
    healthPath:
      laravelHealth(repository, directory) ??
      healthInCode(repository, sources.filter((path) => !path.endsWith('routes/api.php')).slice(0, 60)),
    processes: phpProcesses(repository, directory, framework, requires, sources),
    volumes:
      framework?.name === 'laravel'
        ? laravelVolumes(repository, directory)
        : sqliteVolumes(repository, directory, sources),
  };
  const isApp = command !== undefined;
  const score = framework && isApp ? 0.92 : isApp ? (isComposer ? 0.8 : 0.6) : 0.3;
  return candidate('php', directory, score, draft, isApp ? 'app' : 'library');
}

function serve(root: string): string {
  return root === '.' ? 'php -S 0.0.0.0:$PORT' : `php -S 0.0.0.0:$PORT -t ${root}`;
}

function documentRoot(
  repository: Repository,
  directory: string,
  framework: PhpFramework | undefined,
): string | undefined {
  const roots = [framework?.root, 'public', '.', 'web', 'webroot', 'htdocs', 'www', 'public_html', 'src'];
  const found = roots.find((root) => {
    if (root === undefined) return false;
    const folder = root === '.' ? directory : join(directory, root);
    return repository.firstOf(folder, ['index.php', 'wp-load.php']) !== undefined;
  });
  return found ?? framework?.root;
}

/** A program for the command line. */
function loneScript(repository: Repository, directory: string): string | undefined {
  const path = repository.firstOf(directory, [
    'main.php',
    'app.php',
    'server.php',
    'bot.php',
    'run.php',
    'worker.php',
  ]);
  return path === undefined ? undefined : `php ${path.slice(directory === '' ? 0 : directory.length + 1)}`;
}

function phpVersion(
  repository: Repository,
  directory: string,
  composer: Parsed,
  requires: Parsed,
  file: string,
): Evidenced<string> | undefined {
  const config =
    isParsed(composer.config) && isParsed(composer.config.platform)
      ? composer.config.platform.php
      : undefined;
  const say = (value: unknown) =>
    typeof value === 'string' ? evidenced(value, certain, file, `php ${value.slice(0, 40)}`) : undefined;
  return versionLine(
    'php',
    firstEvidenced(toolVersion(repository, directory, 'php'), say(config), say(requires.php)),
  );
}

function laravelHealth(repository: Repository, directory: string): Evidenced<string> | undefined {
  const file = join(directory, 'bootstrap/app.php');
  const hit = findIn(repository, file, /\bhealth:\s*["'](\/[\w/-]+)["']/);
  return hit && evidenced(hit.match[1] ?? '/up', certain, file, hit.text.trim(), hit.line);
}

/** Laravel's own SQLite file lies beside its migrations. */
function laravelVolumes(repository: Repository, directory: string): readonly Evidenced<string>[] {
  const file = join(directory, '.env.example');
  const hit = findIn(repository, file, /^DB_CONNECTION=sqlite\s*$/);
  const place =
    findIn(repository, file, /^DB_DATABASE=["']?([\w./-]+\.\w+)/)?.match[1] ?? 'database/database.sqlite';
  return hit ? volumeOf(repository, directory, place, { file, line: hit.line, note: hit.text }) : [];
}

function nameOf(composer: Parsed, file: string): Evidenced<string> | undefined {
  const name = typeof composer.name === 'string' ? composer.name.split('/').at(-1) : undefined;
  // The name that a skeleton comes with says nothing.
  if (name === undefined || /^(?:laravel|skeleton|project|website-skeleton|slim-skeleton)$/.test(name))
    return undefined;
  return evidenced(name, name === '' ? guessed : certain, file, 'name');
}
