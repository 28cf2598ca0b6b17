/** PHP: Composer projects, and pages without any. */
import type { Candidate, Detector } from '../../detector.ts';
import { certain, conventional, type Evidenced, evidenced, evidencedBy, guessed } from '../../evidence.ts';
import type { Project } from '../../project.ts';
import { objectAt, stringAt } from '../../readers/shape.ts';
import { type Parsed, parentOf } from '../../repository.ts';
import { healthInCode } from '../code-health.ts';
import { candidate, manager, versionsOf } from '../draft.ts';
import { noVolumes, sqliteVolumes, type Volumes, volumeOf } from '../sqlite-volumes.ts';
import { toolVersion } from '../tool-versions.ts';
import { versionLine } from '../version-lines.ts';
import { apache, documentRoot, phpFramework } from './php-frameworks.ts';
import { phpProcesses, phpRelease } from './php-processes.ts';

export const php: Detector = {
  name: 'php',
  detect(project) {
    return project.files.has('composer.json') || isLone(project) ? [describe(project)] : [];
  },
};

/** Pages without Composer: an index.php that is in no project of another folder. */
function isLone(project: Project): boolean {
  const { files, isRoot, path, repository } = project;
  const folders = ['public', 'web', 'webroot', 'htdocs', 'www', 'src'];
  const isEntry =
    files.has('index.php') ||
    files.has('wp-load.php') ||
    (isRoot && folders.some((name) => project.has(`${name}/index.php`)));
  if (!isEntry || isRoot) return isEntry;
  const above = parentOf(path);
  return (
    above === undefined ||
    repository.upwards(above, ['composer.json', 'index.php', 'wp-load.php']) === undefined
  );
}

function describe(project: Project): Candidate {
  const { repository, path } = project;
  const isComposer = project.files.has('composer.json');
  const file = project.at('composer.json');
  const composer: Parsed = (isComposer ? repository.json(file) : undefined) ?? {};
  const requires = objectAt(composer, 'require');
  const framework = phpFramework(project, requires);
  const root = documentRoot(project, framework);
  const [first] = repository.filesUnder(path, ['.php']);
  const source = isComposer ? file : (first ?? project.at('index.php'));
  const sources = project.sources(['.php'], ['composer.json']);
  const command = framework?.start ?? (root === undefined ? loneScript(project) : apache);
  const isServer = root !== undefined || framework?.start !== undefined;
  const draft = {
    name: nameOf(composer, file),
    language: evidenced('php', certain, source, 'PHP'),
    framework: framework && evidenced(framework.name, certain, source, framework.mark),
    packageManager: isComposer ? manager('composer', project.first('composer.lock'), file) : undefined,
    versions: versionsOf({ php: phpVersion(project, composer) }),
    installCommand: isComposer
      ? evidenced('composer install --no-dev --optimize-autoloader', conventional, file, 'Composer')
      : undefined,
    startCommand:
      command === undefined
        ? undefined
        : evidenced(command, conventional, source, command === apache ? `Apache serves ${root}` : command),
    releaseCommand: phpRelease(project, framework?.name, requires),
    port: evidenced(isServer ? (framework?.port ?? 8000) : null, conventional, source, 'PHP'),
    healthPath:
      laravelHealth(project) ??
      healthInCode(repository, sources.filter((each) => !each.endsWith('routes/api.php')).slice(0, 60)),
    processes: phpProcesses(project, framework?.name, requires, sources),
    ...(framework?.name === 'laravel' ? laravelVolumes(project) : sqliteVolumes(project, sources)),
  };
  const isApp = command !== undefined;
  const score = framework && isApp ? 0.92 : isApp ? (isComposer ? 0.8 : 0.6) : 0.3;
  return candidate('php', path, score, draft, isApp ? 'app' : 'library');
}

/** A program for the command line. */
function loneScript(project: Project): string | undefined {
  const names = ['main', 'app', 'server', 'bot', 'run', 'worker'].map((name) => `${name}.php`);
  const path = project.first(...names);
  return path === undefined ? undefined : `php ${project.relative(path)}`;
}

function phpVersion(project: Project, composer: Parsed): Evidenced<string> | undefined {
  const asked = stringAt(composer, 'config', 'platform', 'php') ?? stringAt(composer, 'require', 'php');
  const file = project.at('composer.json');
  const range =
    asked === undefined ? undefined : evidenced(asked, certain, file, `php ${asked.slice(0, 40)}`);
  return versionLine('php', toolVersion(project, 'php') ?? range);
}

function laravelHealth(project: Project): Evidenced<string> | undefined {
  const hit = project.find('bootstrap/app.php', /\bhealth:\s*["'](\/[\w/-]+)["']/);
  return hit && evidencedBy(hit, hit.match[1] ?? '/up');
}

/** Laravel's own SQLite file lies beside its migrations. */
function laravelVolumes(project: Project): Volumes {
  const hit = project.find('.env.example', /^DB_CONNECTION=sqlite\s*$/);
  const place = project.capture('.env.example', /^DB_DATABASE=["']?([\w./-]+\.\w+)/);
  if (!hit) return noVolumes;
  const { file, line, text } = hit;
  return volumeOf(project, place ?? 'database/database.sqlite', { file, line, note: text });
}

function nameOf(composer: Parsed, file: string): Evidenced<string> | undefined {
  const name = stringAt(composer, 'name')?.split('/').at(-1);
  // The name that a skeleton comes with says nothing.
  if (name === undefined || /^(?:laravel|skeleton|project|website-skeleton|slim-skeleton)$/.test(name))
    return undefined;
  return evidenced(name, name === '' ? guessed : certain, file, 'name');
}
