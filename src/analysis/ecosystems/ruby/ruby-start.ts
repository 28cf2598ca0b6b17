/** How a Ruby app is started. */

import { certain, conventional, type Evidenced, evidenced } from '../../evidence.ts';
import { join, type Repository } from '../../repository.ts';
import { findIn, within } from '../code.ts';
import type { Gems } from './gems.ts';

const scripts = 'app main server index web api application bot start run hello'.split(' ');

export function rubyStart(
  repository: Repository,
  directory: string,
  framework: string | undefined,
  gems: Gems,
  isBundled: boolean,
  sources: readonly string[],
): Evidenced<string> | undefined {
  const bundle = isBundled ? 'bundle exec ' : '';
  if (framework === 'rails') {
    return evidenced('bundle exec rails server -b 0.0.0.0 -p $PORT', certain, gems.file, 'Rails');
  }
  const rackup = repository.firstOf(directory, ['config.ru']);
  if (framework === 'hanami' && !gems.direct.has('puma')) {
    return evidenced(
      'bundle exec hanami server --host 0.0.0.0 --port $PORT',
      conventional,
      gems.file,
      'Hanami',
    );
  }
  if (rackup)
    return evidenced(`${bundle}${rackServer(repository, directory, gems)}`, certain, rackup, 'config.ru');
  const entry = entryOf(repository, directory, framework, sources);
  if (framework === 'sidekiq') {
    const target = entry ? ` -r ./${within(directory, entry)}` : '';
    return evidenced(`bundle exec sidekiq${target}`, conventional, gems.file, 'Sidekiq');
  }
  if (!entry) return undefined;
  // The classic form of Sinatra reads its options from the command line.
  const isClassic =
    framework === 'sinatra' && findIn(repository, entry, /^\s*require\s*\(?["']sinatra["']/) !== undefined;
  const options = isClassic ? ' -o 0.0.0.0 -p $PORT' : '';
  return evidenced(`${bundle}ruby ${within(directory, entry)}${options}`, conventional, entry, 'entry file');
}

function rackServer(repository: Repository, directory: string, { direct }: Gems): string {
  if (direct.has('falcon')) return 'falcon serve --bind http://0.0.0.0:$PORT';
  if (direct.has('puma')) {
    const config = repository.firstOf(directory, ['config/puma.rb', 'puma.rb']);
    const readsPort =
      repository.has(join(directory, 'config/puma.rb')) &&
      findIn(repository, join(directory, 'config/puma.rb'), /PORT/);
    return config !== undefined || readsPort ? 'puma -C config/puma.rb' : 'puma -b tcp://0.0.0.0:$PORT';
  }
  if (direct.has('unicorn')) return 'unicorn -o 0.0.0.0 -p $PORT';
  if (direct.has('thin')) return 'thin start -a 0.0.0.0 -p $PORT';
  if (direct.has('passenger')) return 'passenger start --address 0.0.0.0 --port $PORT';
  return 'rackup config.ru --host 0.0.0.0 --port $PORT';
}

function entryOf(
  repository: Repository,
  directory: string,
  framework: string | undefined,
  sources: readonly string[],
): string | undefined {
  const top = sources.filter((path) => !within(directory, path).includes('/') && path.endsWith('.rb'));
  const named = scripts.flatMap((name) => [
    `${name}.rb`,
    `src/${name}.rb`,
    `lib/${name}.rb`,
    `bin/${name}.rb`,
  ]);
  const known = named.map((name) => join(directory, name)).find((path) => repository.has(path));
  if (framework !== undefined) {
    const using = top.find((path) =>
      findIn(repository, path, new RegExp(`^\\s*require\\s*\\(?["']${framework}["'/]`)),
    );
    if (using) return using;
  }
  return known ?? top.find((path) => !/(?:^|\/)(?:Rakefile|setup|config)\.rb$/.test(path));
}
