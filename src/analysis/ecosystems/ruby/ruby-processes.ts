/** Assets, migrations and background work of Ruby apps. */
import { conventional, type Evidenced, evidenced } from '../../evidence.ts';
import type { Project } from '../../project.ts';
import type { Process } from '../../result.ts';
import { worker } from '../draft.ts';
import type { Gems } from './gems.ts';

const assetGems =
  'sprockets sprockets-rails propshaft webpacker shakapacker vite_rails cssbundling-rails jsbundling-rails importmap-rails tailwindcss-rails dartsass-rails sassc-rails sass-rails'.split(
    ' ',
  );

export function rubyBuild(project: Project, gems: Gems, file: string): Evidenced<string> | undefined {
  const gem = assetGems.find((name) => gems.direct.has(name));
  const isApi = project.find('config/application.rb', /^\s*config\.api_only\s*=\s*true/) !== undefined;
  if (gem === undefined && (isApi || !project.hasFolder('app/assets'))) return undefined;
  return evidenced('bundle exec rails assets:precompile', conventional, file, gem ?? 'app/assets');
}

export function rubyRelease(
  project: Project,
  framework: string | undefined,
  gems: Gems,
  file: string,
): Evidenced<string> | undefined {
  const hasMigrations = project.hasFolder('db/migrate');
  if (framework === 'rails') {
    if (!hasMigrations && !project.first('db/schema.rb', 'db/structure.sql', 'config/database.yml'))
      return undefined;
    // Since 7.1 new apps prepare all their databases at start, those of Solid Queue and the like among them.
    const [major = 0, minor = 0] = (gems.version('rails') ?? '').split('.').map(Number);
    const isNew = major > 7 || (major === 7 && minor >= 1);
    const command = `bundle exec rails db:${isNew ? 'prepare' : 'migrate'}`;
    return evidenced(command, conventional, file, 'migrations of Rails');
  }
  if (!hasMigrations) return undefined;
  if (framework === 'hanami') return evidenced('bundle exec hanami db migrate', conventional, file, 'Hanami');
  if (gems.direct.has('sinatra-activerecord') || project.find('Rakefile', /:migrate\b/))
    return evidenced('bundle exec rake db:migrate', conventional, project.at('Rakefile'), 'db:migrate');
  return undefined;
}

export function rubyProcesses(
  project: Project,
  { direct }: Gems,
  file: string,
): readonly Evidenced<Process>[] {
  const workers: readonly (readonly [string, string])[] = [
    ['sidekiq', 'bundle exec sidekiq'],
    ['solid_queue', project.has('bin/jobs') ? 'bin/jobs' : 'bundle exec rake solid_queue:start'],
    ['good_job', 'bundle exec good_job start'],
    ['delayed_job_active_record', 'bundle exec rake jobs:work'],
    ['delayed_job', 'bundle exec rake jobs:work'],
    ['resque', "QUEUE='*' bundle exec rake resque:work"],
    ['que', 'bundle exec que'],
    ['shoryuken', 'bundle exec shoryuken -R -C config/shoryuken.yml'],
  ];
  const [gem, command] = workers.find(([name]) => direct.has(name)) ?? [];
  const processes = gem === undefined || command === undefined ? [] : [worker('worker', command, file, gem)];
  const clock = direct.has('clockwork') ? project.first('clock.rb', 'config/clock.rb') : undefined;
  if (clock) {
    const line = `bundle exec clockwork ${project.relative(clock)}`;
    processes.push(worker('clock', line, clock, 'clockwork'));
  }
  return processes;
}
