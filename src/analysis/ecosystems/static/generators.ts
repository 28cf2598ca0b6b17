/** Generators of static sites that are not Node's. Each is known by its configuration. */
import type { Candidate, Detector } from '../../detector.ts';
import { conventional, evidenced } from '../../evidence.ts';
import { isParsed, join, type Repository } from '../../repository.ts';
import { findIn } from '../code.ts';
import { candidate, manager, versionsOf } from '../draft.ts';
import { pythonProject, pythonVersion } from '../python/python-manager.ts';
import { readGems } from '../ruby/gems.ts';
import { toolVersion } from '../tool-versions.ts';
import { versionLine } from '../version-lines.ts';
import { mkdocs, pythonSite } from './python-sites.ts';
import { configOf, hasCode, type Site, siteValue } from './site.ts';

/** Nothing here is a site without one of these files, or a folder that may hold one of them. */
const marks =
  `config.toml config.yaml config.yml config.json zola.toml _config.yml _config.yaml _config.toml Gemfile mkdocs.yml
  mkdocs.yaml pelicanconf.py conf.py book.toml _cobalt.yml soupault.toml _quarto.yml lektor.lektorproject
  elm.json`.split(/\s+/);
const places = ['config', 'docs', 'doc', 'source'];

export const generators: Detector = {
  name: 'generator',
  detect({ path, files, folders }, repository) {
    const isPossible =
      marks.some((name) => files.has(name)) ||
      [...files].some((name) => name.startsWith('hugo.')) ||
      places.some((name) => folders.has(name));
    if (!isPossible) return [];
    const site =
      hugo(repository, path) ??
      zola(repository, path) ??
      jekyll(repository, path) ??
      rubySite(repository, path) ??
      mkdocs(repository, path) ??
      pythonSite(repository, path) ??
      otherSite(repository, path);
    return site ? [describe(repository, path, site)] : [];
  },
};

function describe(repository: Repository, directory: string, site: Site): Candidate {
  const { file, name, language } = site;
  const isRuby = language === 'ruby';
  const isPython = language === 'python';
  const python = isPython ? pythonProject(repository, directory) : undefined;
  const gemfile = isRuby ? repository.firstOf(directory, ['Gemfile']) : undefined;
  const lock = repository.firstOf(directory, ['Gemfile.lock']);
  const gems = gemfile ? readGems(repository, directory) : undefined;
  const say = (value: string) => evidenced(value, conventional, file, name);
  const listed = python?.install ?? (site.needs === undefined ? undefined : say(`pip install ${site.needs}`));
  const draft = {
    language: say(language),
    framework: say(name),
    packageManager: gemfile ? manager('bundler', lock, gemfile, gems?.bundler ?? null) : python?.manager,
    versions: versionsOf({
      [name]: toolVersion(repository, directory, name),
      ruby: isRuby
        ? versionLine('ruby', gems?.ruby ?? toolVersion(repository, directory, 'ruby') ?? gems?.lockedRuby)
        : undefined,
      python: isPython ? pythonVersion(repository, directory, python?.pyproject) : undefined,
    }),
    installCommand: gemfile
      ? evidenced('bundle install', conventional, gemfile, 'Gemfile')
      : isRuby
        ? say(`gem install ${name}`)
        : listed,
    buildCommand: say(site.build),
    startCommand: evidenced(null, conventional, file, 'served as files'),
    staticOutput: evidenced({ directory: site.output, isSinglePage: false }, conventional, file, name),
  };
  return candidate('generator', directory, site.score ?? 0.85, draft);
}

function hugo(repository: Repository, directory: string): Site | undefined {
  const own = configOf(repository, directory, [
    'hugo.toml',
    'hugo.yaml',
    'hugo.yml',
    'hugo.json',
    'config/_default/hugo.toml',
    'config/_default/hugo.yaml',
    'config/_default/config.toml',
    'config/_default/config.yaml',
  ]);
  const old = configOf(repository, directory, ['config.toml', 'config.yaml', 'config.yml', 'config.json']);
  const folders = repository.directory(directory)?.folders;
  const hasParts = ['content', 'themes', 'layouts', 'archetypes'].some((name) => folders?.has(name));
  const isOld =
    old !== undefined &&
    hasParts &&
    findIn(repository, old, /^\s*"?(?:baseURL|languageCode|theme)"?\s*[:=]/i) !== undefined;
  const file = own ?? (isOld ? old : undefined);
  if (file === undefined || findIn(repository, file, /^base_url\s*=/)) return undefined;
  return {
    name: 'hugo',
    language: 'html',
    file,
    build: 'hugo --gc --minify',
    output: siteValue(repository, file, 'publishDir') ?? 'public',
  };
}

function zola(repository: Repository, directory: string): Site | undefined {
  const file = configOf(repository, directory, ['zola.toml', 'config.toml']);
  if (file === undefined || !findIn(repository, file, /^base_url\s*=/)) return undefined;
  return {
    name: 'zola',
    language: 'html',
    file,
    build: 'zola build',
    output: siteValue(repository, file, 'output_dir') ?? 'public',
  };
}

function jekyll(repository: Repository, directory: string): Site | undefined {
  const file = configOf(repository, directory, ['_config.yml', '_config.yaml', '_config.toml']);
  const gems = readGems(repository, directory).direct;
  const hasGem = gems.has('jekyll') || gems.has('github-pages');
  const folders = repository.directory(directory)?.folders;
  const hasParts = ['_posts', '_layouts', '_includes', '_sass', '_data'].some((name) => folders?.has(name));
  if (file === undefined ? !(hasGem && gems.has('jekyll')) : !(hasGem || hasParts)) return undefined;
  // Hexo has the same file, and is Node's.
  if (!hasGem && repository.has(join(directory, 'package.json'))) return undefined;
  const source = file ?? join(directory, 'Gemfile');
  const isBundled = repository.has(join(directory, 'Gemfile'));
  const output = (file && siteValue(repository, file, 'destination')?.replace(/^\.\//, '')) || '_site';
  return {
    name: 'jekyll',
    language: 'ruby',
    file: source,
    build: `${isBundled ? 'bundle exec ' : ''}jekyll build`,
    output,
  };
}

function rubySite(repository: Repository, directory: string): Site | undefined {
  const file = repository.firstOf(directory, ['Gemfile']);
  if (file === undefined) return undefined;
  const gems = readGems(repository, directory).direct;
  const all: readonly (readonly [string, string, string])[] = [
    ['bridgetown', 'bin/bridgetown deploy', 'output'],
    ['middleman', 'bundle exec middleman build', 'build'],
    ['nanoc', 'bundle exec nanoc compile', 'output'],
  ];
  const found = all.find(([gem]) => gems.has(gem));
  return found && { name: found[0], language: 'ruby', file, build: found[1], output: found[2] };
}

function otherSite(repository: Repository, directory: string): Site | undefined {
  const book = join(directory, 'book.toml');
  if (repository.has(book)) {
    const build = repository.toml(book)?.build;
    const output = isParsed(build) && typeof build['build-dir'] === 'string' ? build['build-dir'] : 'book';
    return {
      name: 'mdbook',
      language: 'html',
      file: book,
      build: 'mdbook build',
      output,
      score: hasCode(repository, directory) ? 0.45 : 0.85,
    };
  }
  const all: readonly (readonly [string, string, string, string])[] = [
    ['_cobalt.yml', 'cobalt', 'cobalt build', '_site'],
    ['soupault.toml', 'soupault', 'soupault', 'build'],
    ['_quarto.yml', 'quarto', 'quarto render', '_site'],
    ['lektor.lektorproject', 'lektor', 'lektor build -O build', 'build'],
  ];
  const found = all.find(([name]) => repository.has(join(directory, name)));
  if (found)
    return {
      name: found[1],
      language: found[1] === 'lektor' ? 'python' : 'html',
      file: join(directory, found[0]),
      build: found[2],
      output: found[3],
    };
  return elm(repository, directory);
}

/** A page that Elm writes whole, or a script for the page that is there. */
function elm(repository: Repository, directory: string): Site | undefined {
  const file = join(directory, 'elm.json');
  if (
    !repository.has(file) ||
    !repository.has(join(directory, 'src/Main.elm')) ||
    repository.has(join(directory, 'package.json'))
  )
    return undefined;
  const page = configOf(repository, directory, ['index.html', 'public/index.html']);
  const script = page && findIn(repository, page, /src="([\w./-]+\.js)"/)?.match[1]?.replace(/^\.?\//, '');
  const folder = page?.includes('public/') ? 'public' : '.';
  const target =
    page === undefined
      ? 'dist/index.html'
      : folder === '.'
        ? (script ?? 'main.js')
        : `public/${script ?? 'main.js'}`;
  return {
    name: 'elm',
    language: 'elm',
    file,
    build: `elm make src/Main.elm --optimize --output=${target}`,
    output: page === undefined ? 'dist' : folder,
  };
}
