/** Migrations, queue workers and schedules of PHP frameworks. */
import { conventional, type Evidenced, evidenced } from '../../evidence.ts';
import type { Project } from '../../project.ts';
import type { Parsed } from '../../repository.ts';
import type { Process } from '../../result.ts';
import { worker } from '../draft.ts';

interface Migration {
  readonly framework: string;
  /** The folder of the migrations; `composer.json` where there is always something to do. */
  readonly place: string;
  /** Any of these packages. */
  readonly packages?: readonly string[];
  readonly command: string;
}

const migrations: readonly Migration[] = [
  { framework: 'laravel', place: 'database/migrations', command: 'php artisan migrate --force' },
  { framework: 'lumen', place: 'database/migrations', command: 'php artisan migrate --force' },
  {
    framework: 'symfony',
    place: 'migrations',
    packages: ['doctrine/doctrine-migrations-bundle', 'symfony/orm-pack'],
    command: 'php bin/console doctrine:migrations:migrate --no-interaction --allow-no-migration',
  },
  { framework: 'cakephp', place: 'config/Migrations', command: 'bin/cake migrations migrate' },
  { framework: 'codeigniter', place: 'app/Database/Migrations', command: 'php spark migrate --all' },
  { framework: 'yii', place: 'migrations', command: 'php yii migrate --interactive=0' },
  { framework: 'craft', place: 'composer.json', command: 'php craft up --interactive=0' },
  {
    framework: 'drupal',
    place: 'composer.json',
    packages: ['drush/drush'],
    command: 'vendor/bin/drush deploy -y',
  },
];

export function phpRelease(
  project: Project,
  framework: string | undefined,
  requires: Parsed,
): Evidenced<string> | undefined {
  const found = migrations.find(
    (each) =>
      each.framework === framework &&
      (each.place === 'composer.json' || project.hasFolder(each.place)) &&
      (each.packages?.some((name) => Object.hasOwn(requires, name)) ?? true),
  );
  return found && evidenced(found.command, conventional, project.at(found.place), 'migrations');
}

export function phpProcesses(
  project: Project,
  framework: string | undefined,
  requires: Parsed,
  sources: readonly string[],
): readonly Evidenced<Process>[] {
  if (framework === 'laravel' || framework === 'lumen') return laravel(project, requires, sources);
  return framework === 'symfony' ? symfony(project) : [];
}

function laravel(
  project: Project,
  requires: Parsed,
  sources: readonly string[],
): readonly Evidenced<Process>[] {
  const { repository } = project;
  const found: Evidenced<Process>[] = [];
  const file = project.at('composer.json');
  const queued =
    repository.find(sources, /\bimplements\b.*\bShouldQueue\b|::dispatch\(/)?.file ??
    (project.hasFolder('app/Jobs') ? project.at('app/Jobs') : undefined);
  if ('laravel/horizon' in requires)
    found.push(worker('horizon', 'php artisan horizon', file, 'laravel/horizon'));
  else if (queued) found.push(worker('queue', 'php artisan queue:work', queued, 'queued jobs'));
  const plan = repository.find(
    ['routes/console.php', 'app/Console/Kernel.php', 'bootstrap/app.php'].map((name) => project.at(name)),
    /^\s*(?:Schedule::(?:command|job|call|exec)|\$schedule->)|->(?:hourly|daily|everyMinute|weekly|everyFiveMinutes)\(\)/,
  );
  if (plan) {
    const command = 'php artisan schedule:run';
    const value = { name: 'scheduler', kind: 'cron', command, schedule: '* * * * *' } as const;
    found.push(evidenced(value, conventional, plan.file, plan.text.trim().slice(0, 80)));
  }
  if ('laravel/reverb' in requires)
    found.push(worker('reverb', 'php artisan reverb:start --host=0.0.0.0', file, 'laravel/reverb'));
  return found;
}

function symfony(project: Project): readonly Evidenced<Process>[] {
  const file = 'config/packages/messenger.yaml';
  const transport = project.capture(file, /^\s+(async\w*)\s*:/);
  const isRouted = project.find(file, /^\s+['"]?[A-Z][\w\\]+['"]?\s*:\s*async/) !== undefined;
  if (transport === undefined || !isRouted) return [];
  const command = `php bin/console messenger:consume ${transport}`;
  return [worker('messenger', command, project.at(file), 'messenger')];
}
