/** Assets, migrations and background work of Ruby apps. */

import { conventional, type Evidenced, evidenced } from '../../evidence.ts';
import { join, type Repository } from '../../repository.ts';
import type { Process } from '../../result.ts';
import { findIn } from '../code.ts';
import { worker } from '../draft.ts';
import type { Gems } from './gems.ts';

const assetGems =
  'sprockets sprockets-rails propshaft webpacker shakapacker vite_rails cssbundling-rails jsbundling-rails importmap-rails tailwindcss-rails dartsass-rails sassc-rails sass-rails'.split(
    ' ',
  );

export function rubyBuild(
  repository: Repository,
  directory: string,
  gems: Gems,
  file: string,
): Evidenced<string> | undefined {
  const gem = assetGems.find((name) => gems.direct.has(name));
  const config = join(directory, 'config/application.rb');
  const isApi = findIn(repository, config, /^\s*config\.api_only\s*=\s*true/) !== undefined;
  const hasAssets = repository.directory(join(directory, 'app/assets')) !== undefined;
  if (gem === undefined && (isApi || !hasAssets)) return undefined;
  return evidenced('bundle exec rails assets:precompile', conventional, file, gem ?? 'app/assets');
}

export function rubyRelease(
  repository: Repository,
  directory: string,
  framework: string | undefined,
  gems: Gems,
  file: string,
): Evidenced<string> | undefined {
  const has = (path: string) => repository.has(join(directory, path));
  const hasMigrations = repository.directory(join(directory, 'db/migrate')) !== undefined;
  if (framework === 'rails') {
    if (!hasMigrations && !has('db/schema.rb') && !has('db/structure.sql') && !has('config/database.yml'))
      return undefined;
    // Since 7.1 new apps prepare all their databases at start, those of Solid Queue and the like among them.
    const [major = 0, minor = 0] = (gems.version('rails') ?? '').split('.').map(Number);
    const isNew = major > 7 || (major === 7 && minor >= 1);
    return evidenced(
      `bundle exec rails db:${isNew ? 'prepare' : 'migrate'}`,
      conventional,
      file,
      'migrations of Rails',
    );
  }
  if (framework === 'hanami' && hasMigrations)
    return evidenced('bundle exec hanami db migrate', conventional, file, 'Hanami');
  const rakefile = join(directory, 'Rakefile');
  if (
    hasMigrations &&
    (gems.direct.has('sinatra-activerecord') || findIn(repository, rakefile, /:migrate\b/))
  ) {
    return evidenced('bundle exec rake db:migrate', conventional, rakefile, 'db:migrate');
  }
  return undefined;
}

export function rubyProcesses(
  repository: Repository,
  directory: string,
  gems: Gems,
  file: string,
): readonly Evidenced<Process>[] {
  const jobs = repository.has(join(directory, 'bin/jobs'))
    ? 'bin/jobs'
    : 'bundle exec rake solid_queue:start';
  const all: readonly (readonly [string, string])[] = [
    ['sidekiq', 'bundle exec sidekiq'],
    ['solid_queue', jobs],
    ['good_job', 'bundle exec good_job start'],
    ['delayed_job_active_record', 'bundle exec rake jobs:work'],
    ['delayed_job', 'bundle exec rake jobs:work'],
    ['resque', "QUEUE='*' bundle exec rake resque:work"],
    ['que', 'bundle exec que'],
    ['shoryuken', 'bundle exec shoryuken -R -C config/shoryuken.yml'],
  ];
  const found = all.find(([gem]) => gems.direct.has(gem));
  const clock = gems.direct.has('clockwork')
    ? repository.firstOf(directory, ['clock.rb', 'config/clock.rb'])
    : undefined;
  return [
    ...(found ? [worker('worker', found[1], file, found[0])] : []),
    ...(clock
      ? [
          worker(
            'clock',
            `bundle exec clockwork ${clock.slice(directory === '' ? 0 : directory.length + 1)}`,
            clock,
            'clockwork',
          ),
        ]
      : []),
  ];
}
