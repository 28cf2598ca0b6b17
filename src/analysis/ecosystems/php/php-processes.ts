/** Migrations, queue workers and schedules of PHP frameworks. */

import { conventional, type Evidenced, evidenced } from '../../evidence.ts';
import { join, type Parsed, type Repository } from '../../repository.ts';
import type { Process } from '../../result.ts';
import { findIn, findInAny } from '../code.ts';
import { cron, worker } from '../draft.ts';
import type { PhpFramework } from './php-frameworks.ts';

export function phpRelease(
  repository: Repository,
  directory: string,
  framework: PhpFramework | undefined,
  requires: Parsed,
): Evidenced<string> | undefined {
  const has = (folder: string) => repository.directory(join(directory, folder)) !== undefined;
  const say = (command: string, folder: string) =>
    evidenced(command, conventional, join(directory, folder), 'migrations');
  if (framework?.name === 'laravel' && has('database/migrations'))
    return say('php artisan migrate --force', 'database/migrations');
  if (framework?.name === 'lumen' && has('database/migrations'))
    return say('php artisan migrate --force', 'database/migrations');
  const hasDoctrine = 'doctrine/doctrine-migrations-bundle' in requires || 'symfony/orm-pack' in requires;
  if (framework?.name === 'symfony' && hasDoctrine && has('migrations')) {
    return say(
      'php bin/console doctrine:migrations:migrate --no-interaction --allow-no-migration',
      'migrations',
    );
  }
  if (framework?.name === 'cakephp' && has('config/Migrations'))
    return say('bin/cake migrations migrate', 'config/Migrations');
  if (framework?.name === 'codeigniter' && has('app/Database/Migrations')) {
    return say('php spark migrate --all', 'app/Database/Migrations');
  }
  if (framework?.name === 'yii' && has('migrations'))
    return say('php yii migrate --interactive=0', 'migrations');
  if (framework?.name === 'craft') return say('php craft up --interactive=0', 'composer.json');
  if (framework?.name === 'drupal' && 'drush/drush' in requires)
    return say('vendor/bin/drush deploy -y', 'composer.json');
  return undefined;
}

export function phpProcesses(
  repository: Repository,
  directory: string,
  framework: PhpFramework | undefined,
  requires: Parsed,
  sources: readonly string[],
): readonly Evidenced<Process>[] {
  if (framework?.name === 'laravel' || framework?.name === 'lumen')
    return laravel(repository, directory, requires, sources);
  if (framework?.name === 'symfony') return symfony(repository, directory);
  return [];
}

function laravel(
  repository: Repository,
  directory: string,
  requires: Parsed,
  sources: readonly string[],
): readonly Evidenced<Process>[] {
  const found: Evidenced<Process>[] = [];
  const file = join(directory, 'composer.json');
  const queued =
    findInAny(repository, sources, /\bimplements\b.*\bShouldQueue\b|::dispatch\(/)?.file ??
    (repository.directory(join(directory, 'app/Jobs')) ? join(directory, 'app/Jobs') : undefined);
  if ('laravel/horizon' in requires)
    found.push(worker('horizon', 'php artisan horizon', file, 'laravel/horizon'));
  else if (queued) found.push(worker('queue', 'php artisan queue:work', queued, 'queued jobs'));
  const plans = ['routes/console.php', 'app/Console/Kernel.php', 'bootstrap/app.php'].map((name) =>
    join(directory, name),
  );
  const plan = findInAny(
    repository,
    plans,
    /^\s*(?:Schedule::(?:command|job|call|exec)|\$schedule->)|->(?:hourly|daily|everyMinute|weekly|everyFiveMinutes)\(\)/,
  );
  if (plan)
    found.push(
      cron('scheduler', 'php artisan schedule:run', '* * * * *', plan.file, plan.text.trim().slice(0, 80)),
    );
  if ('laravel/reverb' in requires) {
    found.push(worker('reverb', 'php artisan reverb:start --host=0.0.0.0', file, 'laravel/reverb'));
  }
  return found;
}

function symfony(repository: Repository, directory: string): readonly Evidenced<Process>[] {
  const file = join(directory, 'config/packages/messenger.yaml');
  const transport = findIn(repository, file, /^\s+(async\w*)\s*:/);
  const routed = findIn(repository, file, /^\s+['"]?[A-Z][\w\\]+['"]?\s*:\s*async/);
  if (!transport || !routed) return [];
  return [worker('messenger', `php bin/console messenger:consume ${transport.match[1]}`, file, 'messenger')];
}
