/** Ruby: bundler projects, Rack and lone scripts. Sites made by Jekyll and its kind are described with the generators. */
import type { Candidate, Detector } from '../../detector.ts';
import { certain, conventional, type Evidenced, evidenced, firstEvidenced, guessed } from '../../evidence.ts';
import { join, type Repository } from '../../repository.ts';
import { findIn, linesOf, ownSources } from '../code.ts';
import { healthInCode } from '../code-health.ts';
import { portInCode } from '../code-port.ts';
import { candidate, manager, versionsOf } from '../draft.ts';
import { sqliteVolumes, volumeOf } from '../sqlite-volumes.ts';
import { toolVersion } from '../tool-versions.ts';
import { versionLine } from '../version-lines.ts';
import { type Gems, readGems } from './gems.ts';
import { rubyBuild, rubyProcesses, rubyRelease } from './ruby-processes.ts';
import { rubyStart } from './ruby-start.ts';

interface RubyFramework {
  readonly name: string;
  readonly gems: readonly string[];
  readonly port: number | null;
}

const frameworks: readonly RubyFramework[] = [
  { name: 'rails', gems: ['rails', 'railties'], port: 3000 },
  { name: 'hanami', gems: ['hanami'], port: 2300 },
  { name: 'padrino', gems: ['padrino'], port: 3000 },
  { name: 'sinatra', gems: ['sinatra'], port: 4567 },
  { name: 'roda', gems: ['roda'], port: 9292 },
  { name: 'grape', gems: ['grape'], port: 9292 },
  { name: 'cuba', gems: ['cuba'], port: 9292 },
  { name: 'rack', gems: ['rack', 'rackup'], port: 9292 },
  { name: 'sidekiq', gems: ['sidekiq'], port: null },
];

const generators = ['jekyll', 'middleman', 'nanoc', 'bridgetown', 'github-pages'];

export const ruby: Detector = {
  name: 'ruby',
  detect({ path, files }, repository) {
    const isBundled = files.has('Gemfile') || files.has('gems.rb');
    const isLone = path === repository.root && [...files].some((name) => name.endsWith('.rb'));
    if (!isBundled && !files.has('config.ru') && !isLone) return [];
    const gems = readGems(repository, path);
    const isServer = frameworks.some((each) => each.gems.some((name) => gems.direct.has(name)));
    if (!isServer && generators.some((name) => gems.direct.has(name))) return [];
    return [describe(repository, path, gems, isBundled)];
  },
};

function describe(repository: Repository, directory: string, gems: Gems, isBundled: boolean): Candidate {
  const sources = ownSources(repository, directory, ['.rb', '.ru'], ['Gemfile']);
  const rackup = repository.firstOf(directory, ['config.ru']);
  const file = isBundled ? gems.file : (rackup ?? sources[0] ?? join(directory, 'config.ru'));
  const inCode = (name: string) =>
    sources
      .slice(0, 40)
      .some((path) => findIn(repository, path, new RegExp(`^\\s*require\\s*\\(?["']${name}["'/]`)));
  const framework =
    frameworks.find((each) => each.gems.some((name) => gems.direct.has(name))) ??
    frameworks.find((each) => ['sinatra', 'roda', 'grape'].includes(each.name) && inCode(each.name)) ??
    (rackup ? frameworks.find(({ name }) => name === 'rack') : undefined);
  const start = rubyStart(repository, directory, framework?.name, gems, isBundled, sources);
  const processes = rubyProcesses(repository, directory, gems, file);
  const draft = {
    language: evidenced('ruby', certain, file, 'Ruby'),
    framework: framework && evidenced(framework.name, certain, file, framework.name),
    packageManager: isBundled
      ? manager('bundler', repository.firstOf(directory, ['Gemfile.lock', 'gems.locked']), file, gems.bundler)
      : undefined,
    versions: versionsOf({ ruby: rubyVersion(repository, directory, gems) }),
    installCommand: isBundled ? evidenced('bundle install', conventional, file, 'Gemfile') : undefined,
    buildCommand: framework?.name === 'rails' ? rubyBuild(repository, directory, gems, file) : undefined,
    startCommand: start,
    releaseCommand: rubyRelease(repository, directory, framework?.name, gems, file),
    port: portOf(repository, directory, framework, sources, file),
    healthPath: healthInCode(repository, [join(directory, 'config/routes.rb'), ...sources.slice(0, 60)]),
    processes: framework?.name === 'sidekiq' ? [] : processes,
    volumes: volumesOf(repository, directory, sources),
  };
  const score = framework && start ? 0.92 : start && isBundled ? 0.7 : start ? 0.4 : 0.3;
  return candidate('ruby', directory, score, draft, start ? 'app' : 'library');
}

/** Of `database.yml` only the part for production counts. */
function volumesOf(
  repository: Repository,
  directory: string,
  sources: readonly string[],
): readonly Evidenced<string>[] {
  const file = join(directory, 'config/database.yml');
  if (!repository.has(file)) return sqliteVolumes(repository, directory, sources.slice(0, 60));
  let isProduction = false;
  for (const [at, line] of linesOf(repository, file).entries()) {
    if (/^\w/.test(line)) isProduction = line.startsWith('production:');
    const path = isProduction ? /^\s*database:\s*["']?([\w./-]+\.sqlite3?)/.exec(line)?.[1] : undefined;
    if (path !== undefined)
      return volumeOf(repository, directory, path, { file, line: at + 1, note: line.trim() });
  }
  return [];
}

function rubyVersion(repository: Repository, directory: string, gems: Gems): Evidenced<string> | undefined {
  return versionLine(
    'ruby',
    firstEvidenced(gems.ruby, toolVersion(repository, directory, 'ruby'), gems.lockedRuby),
  );
}

function portOf(
  repository: Repository,
  directory: string,
  framework: RubyFramework | undefined,
  sources: readonly string[],
  file: string,
): Evidenced<number | null> {
  if (framework && framework.port === null) return evidenced(null, conventional, file, 'listens nowhere');
  const custom = framework && evidenced(framework.port, conventional, file, `custom of ${framework.name}`);
  const puma = portInCode(repository, [join(directory, 'config/puma.rb'), join(directory, 'puma.rb')]);
  if (puma || framework?.name === 'rails')
    return puma ?? custom ?? evidenced(3000, conventional, file, 'Rails');
  const top = sources.filter((path) => !path.includes('/config/')).slice(0, 20);
  const listens = /require ["'](?:socket|webrick|puma|async\/http)/;
  const isServer =
    custom !== undefined || top.some((path) => findIn(repository, path, listens) !== undefined);
  const inCode = isServer ? portInCode(repository, top) : undefined;
  return inCode ?? custom ?? evidenced(null, guessed, file, 'nothing that listens was seen');
}
