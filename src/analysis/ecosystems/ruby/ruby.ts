/** Ruby: bundler projects, Rack and lone scripts. Sites made by Jekyll and its kind are described with the generators. */
import type { Candidate, Detector } from '../../detector.ts';
import { certain, conventional, type Evidenced, evidenced, guessed } from '../../evidence.ts';
import type { Project } from '../../project.ts';
import { healthInCode } from '../code-health.ts';
import { portInCode } from '../code-port.ts';
import { candidate, manager, versionsOf } from '../draft.ts';
import { noVolumes, sqliteVolumes, type Volumes, volumeOf } from '../sqlite-volumes.ts';
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
  detect(project) {
    const { files, isRoot, endings } = project;
    const isBundled = files.has('Gemfile') || files.has('gems.rb');
    if (!isBundled && !files.has('config.ru') && !(isRoot && endings.has('rb'))) return [];
    const gems = readGems(project);
    const isServer = frameworks.some((each) => each.gems.some((name) => gems.direct.has(name)));
    if (!isServer && generators.some((name) => gems.direct.has(name))) return [];
    return [describe(project, gems, isBundled)];
  },
};

function describe(project: Project, gems: Gems, isBundled: boolean): Candidate {
  const { repository } = project;
  const sources = project.sources(['.rb', '.ru'], ['Gemfile']);
  const rackup = project.first('config.ru');
  const file = isBundled ? gems.file : (rackup ?? sources[0] ?? project.at('config.ru'));
  const isRequired = (name: string) =>
    repository.find(sources.slice(0, 40), new RegExp(`^\\s*require\\s*\\(?["']${name}["'/]`));
  const framework =
    frameworks.find((each) => each.gems.some((name) => gems.direct.has(name))) ??
    frameworks.find(({ name }) => ['sinatra', 'roda', 'grape'].includes(name) && isRequired(name)) ??
    (rackup ? frameworks.find(({ name }) => name === 'rack') : undefined);
  const start = rubyStart(project, framework?.name, gems, isBundled, sources);
  const draft = {
    language: evidenced('ruby', certain, file, 'Ruby'),
    framework: framework && evidenced(framework.name, certain, file, framework.name),
    packageManager: isBundled ? manager('bundler', gems.lockFile, file, gems.bundler) : undefined,
    versions: versionsOf({ ruby: gems.ruby }),
    installCommand: isBundled ? evidenced('bundle install', conventional, file, 'Gemfile') : undefined,
    buildCommand: framework?.name === 'rails' ? rubyBuild(project, gems, file) : undefined,
    startCommand: start,
    releaseCommand: rubyRelease(project, framework?.name, gems, file),
    port: portOf(project, framework, sources, file),
    healthPath: healthInCode(repository, [project.at('config/routes.rb'), ...sources.slice(0, 60)]),
    processes: framework?.name === 'sidekiq' ? [] : rubyProcesses(project, gems, file),
    ...volumesOf(project, sources),
  };
  const score = framework && start ? 0.92 : start && isBundled ? 0.7 : start ? 0.4 : 0.3;
  return candidate('ruby', project.path, score, draft, start ? 'app' : 'library');
}

/** Of `database.yml` only the part for production counts. */
function volumesOf(project: Project, sources: readonly string[]): Volumes {
  const file = project.first('config/database.yml');
  if (file === undefined) return sqliteVolumes(project, sources.slice(0, 60));
  let isProduction = false;
  for (const [at, line] of project.repository.lines(file).entries()) {
    if (/^\w/.test(line)) isProduction = line.startsWith('production:');
    const path = isProduction ? /^\s*database:\s*["']?([\w./-]+\.sqlite3?)/.exec(line)?.[1] : undefined;
    if (path !== undefined) return volumeOf(project, path, { file, line: at + 1, note: line.trim() });
  }
  return noVolumes;
}

function portOf(
  project: Project,
  framework: RubyFramework | undefined,
  sources: readonly string[],
  file: string,
): Evidenced<number | null> {
  const { repository } = project;
  if (framework?.port === null) return evidenced(null, conventional, file, 'listens nowhere');
  const usual = framework && evidenced(framework.port, conventional, file, `convention of ${framework.name}`);
  const puma = portInCode(repository, [project.at('config/puma.rb'), project.at('puma.rb')]);
  if (puma) return puma;
  if (usual && framework.name === 'rails') return usual;
  const top = sources.filter((path) => !path.includes('/config/')).slice(0, 20);
  const listens = /require ["'](?:socket|webrick|puma|async\/http)/;
  const isServer = usual !== undefined || repository.find(top, listens) !== undefined;
  const inCode = isServer ? portInCode(repository, top) : undefined;
  return inCode ?? usual ?? evidenced(null, guessed, file, 'nothing that listens was seen');
}
