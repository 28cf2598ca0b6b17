/** How a Ruby app is started. */
import { certain, conventional, type Evidenced, evidenced } from '../../evidence.ts';
import type { Project } from '../../project.ts';
import type { Gems } from './gems.ts';

const scripts = 'app main server index web api application bot start run hello'.split(' ');

export function rubyStart(
  project: Project,
  framework: string | undefined,
  gems: Gems,
  isBundled: boolean,
  sources: readonly string[],
): Evidenced<string> | undefined {
  const bundle = isBundled ? 'bundle exec ' : '';
  const say = (command: string, note: string) => evidenced(command, conventional, gems.file, note);
  if (framework === 'rails')
    return evidenced('bundle exec rails server -b 0.0.0.0 -p $PORT', certain, gems.file, 'Rails');
  if (framework === 'hanami' && !gems.direct.has('puma'))
    return say('bundle exec hanami server --host 0.0.0.0 --port $PORT', 'Hanami');
  const rackup = project.first('config.ru');
  if (rackup) return evidenced(`${bundle}${rackServer(project, gems)}`, certain, rackup, 'config.ru');
  const entry = entryOf(project, framework, sources);
  const path = entry && project.relative(entry);
  if (framework === 'sidekiq') return say(`bundle exec sidekiq${path ? ` -r ./${path}` : ''}`, 'Sidekiq');
  if (!entry) return undefined;
  // The classic form of Sinatra reads its options from the command line.
  const isClassic =
    framework === 'sinatra' && project.repository.find(entry, /^\s*require\s*\(?["']sinatra["']/);
  const command = `${bundle}ruby ${path}${isClassic ? ' -o 0.0.0.0 -p $PORT' : ''}`;
  return evidenced(command, conventional, entry, 'entry file');
}

function rackServer(project: Project, { direct }: Gems): string {
  if (direct.has('falcon')) return 'falcon serve --bind http://0.0.0.0:$PORT';
  if (direct.has('puma'))
    return project.first('config/puma.rb', 'puma.rb')
      ? 'puma -C config/puma.rb'
      : 'puma -b tcp://0.0.0.0:$PORT';
  if (direct.has('unicorn')) return 'unicorn -o 0.0.0.0 -p $PORT';
  if (direct.has('thin')) return 'thin start -a 0.0.0.0 -p $PORT';
  if (direct.has('passenger')) return 'passenger start --address 0.0.0.0 --port $PORT';
  return 'rackup config.ru --host 0.0.0.0 --port $PORT';
}

function entryOf(
  project: Project,
  framework: string | undefined,
  sources: readonly string[],
): string | undefined {
  const top = sources.filter((path) => !project.relative(path).includes('/') && path.endsWith('.rb'));
  const using =
    framework && project.repository.find(top, new RegExp(`^\\s*require\\s*\\(?["']${framework}["'/]`));
  if (using) return using.file;
  const named = scripts.flatMap((name) =>
    ['', 'src/', 'lib/', 'bin/'].map((folder) => `${folder}${name}.rb`),
  );
  return project.first(...named) ?? top.find((path) => !/(?:^|\/)(?:Rakefile|setup|config)\.rb$/.test(path));
}
