/**
 * Generators of static sites that are not Node's. Each is known by its configuration. One without an image that could
 * build it (mdBook, Quarto, Elm) is not here.
 */
import type { Candidate, Detector } from '../../detector.ts';
import { conventional, evidenced } from '../../evidence.ts';
import type { Project } from '../../project.ts';
import { candidate, manager, staticSite, versionsOf } from '../draft.ts';
import { pythonDependencies, requirementsFile } from '../python/python-dependencies.ts';
import { pythonProject, pythonVersion } from '../python/python-manager.ts';
import { readGems } from '../ruby/gems.ts';
import { toolVersion } from '../tool-versions.ts';

/** What is known of a site that a generator writes. */
interface Site {
  readonly name: string;
  readonly language: 'html' | 'ruby' | 'python';
  readonly file: string;
  readonly build: string;
  readonly output: string;
  readonly score?: number;
  /** What a site needs that lists no requirements of its own. */
  readonly needs?: string | undefined;
}

/** Nothing here is a site without one of these files, or a folder that may hold one of them. */
const marks =
  `config.toml config.yaml config.yml config.json zola.toml _config.yml _config.yaml _config.toml Gemfile mkdocs.yml
  mkdocs.yaml pelicanconf.py conf.py`.split(/\s+/);
const places = ['config', 'docs', 'doc', 'source'];

export const generators: Detector = {
  name: 'generator',
  detect(project) {
    const { files, folders } = project;
    const isPossible =
      marks.some((name) => files.has(name)) ||
      [...files].some((name) => name.startsWith('hugo.')) ||
      places.some((name) => folders.has(name));
    if (!isPossible) return [];
    const site =
      hugo(project) ??
      zola(project) ??
      jekyll(project) ??
      rubySite(project) ??
      mkdocs(project) ??
      pelican(project) ??
      sphinx(project);
    return site ? [describe(project, site)] : [];
  },
};

function describe(project: Project, site: Site): Candidate {
  const { file, name, language } = site;
  const say = (value: string) => evidenced(value, conventional, file, name);
  const { versions, ...tools } = toolsOf(project, site);
  return candidate('generator', project.path, site.score ?? 0.85, {
    language: say(language),
    framework: say(name),
    ...tools,
    versions: versionsOf({ [name]: toolVersion(project, name), ...versions }),
    buildCommand: say(site.build),
    ...staticSite({ directory: site.output, isSinglePage: false }, file, name),
  });
}

/** What installs the generator, by the language it is written in. */
function toolsOf(project: Project, { name, language, needs, file }: Site) {
  const say = (command: string) => evidenced(command, conventional, file, name);
  if (language === 'python') {
    const python = pythonProject(project);
    return {
      packageManager: python.manager,
      versions: { python: pythonVersion(project, python.pyproject) },
      installCommand: python.install ?? (needs === undefined ? undefined : say(`pip install ${needs}`)),
    };
  }
  if (language === 'html') return { versions: {} };
  const gemfile = project.first('Gemfile');
  const gems = readGems(project);
  return {
    packageManager: gemfile
      ? manager('bundler', project.first('Gemfile.lock'), gemfile, gems.bundler)
      : undefined,
    versions: { ruby: gems.ruby },
    installCommand: gemfile
      ? evidenced('bundle install', conventional, gemfile, 'Gemfile')
      : say(`gem install ${name}`),
  };
}

/** A key in TOML, YAML or JSON, at the beginning of a line. */
function siteValue(project: Project, file: string, key: string): string | undefined {
  const form = new RegExp(String.raw`^\s*"?${key}"?\s*[:=]\s*["']?([\w./-]+)["']?\s*,?$`, 'i');
  return project.repository.capture(file, form);
}

/** Documentation beside a program is not the app. */
function hasCode(project: Project): boolean {
  const manifests = 'package.json go.mod Cargo.toml pyproject.toml setup.py pom.xml composer.json'.split(' ');
  return project.first(...manifests) !== undefined;
}

function hugo(project: Project): Site | undefined {
  const { folders, repository } = project;
  const old = project.first('config.toml', 'config.yaml', 'config.yml', 'config.json');
  const hasParts = ['content', 'themes', 'layouts', 'archetypes'].some((name) => folders.has(name));
  const isOld =
    old && hasParts && repository.find(old, /^\s*"?(?:baseURL|languageCode|theme)"?\s*[:=]/i) !== undefined;
  const file =
    project.first(
      'hugo.toml',
      'hugo.yaml',
      'hugo.yml',
      'hugo.json',
      ...['hugo.toml', 'hugo.yaml', 'config.toml', 'config.yaml'].map((name) => `config/_default/${name}`),
    ) ?? (isOld ? old : undefined);
  if (file === undefined || repository.find(file, /^base_url\s*=/)) return undefined;
  const output = siteValue(project, file, 'publishDir') ?? 'public';
  return { name: 'hugo', language: 'html', file, build: 'hugo --gc --minify', output };
}

function zola(project: Project): Site | undefined {
  const file = project.first('zola.toml', 'config.toml');
  if (file === undefined || !project.repository.find(file, /^base_url\s*=/)) return undefined;
  const output = siteValue(project, file, 'output_dir') ?? 'public';
  return { name: 'zola', language: 'html', file, build: 'zola build', output };
}

function jekyll(project: Project): Site | undefined {
  const file = project.first('_config.yml', '_config.yaml', '_config.toml');
  const gems = readGems(project).direct;
  const hasGem = gems.has('jekyll') || gems.has('github-pages');
  const parts = ['_posts', '_layouts', '_includes', '_sass', '_data'];
  const hasParts = parts.some((name) => project.folders.has(name));
  if (file === undefined ? !gems.has('jekyll') : !(hasGem || hasParts)) return undefined;
  // Hexo has the same file, and is Node's.
  if (!hasGem && project.has('package.json')) return undefined;
  return {
    name: 'jekyll',
    language: 'ruby',
    file: file ?? project.at('Gemfile'),
    build: `${project.has('Gemfile') ? 'bundle exec ' : ''}jekyll build`,
    output: (file && siteValue(project, file, 'destination')?.replace(/^\.\//, '')) || '_site',
  };
}

function rubySite(project: Project): Site | undefined {
  const file = project.first('Gemfile');
  if (file === undefined) return undefined;
  const gems = readGems(project).direct;
  const all: readonly (readonly [string, string, string])[] = [
    ['bridgetown', 'bin/bridgetown deploy', 'output'],
    ['middleman', 'bundle exec middleman build', 'build'],
    ['nanoc', 'bundle exec nanoc compile', 'output'],
  ];
  const found = all.find(([gem]) => gems.has(gem));
  return found && { name: found[0], language: 'ruby', file, build: found[1], output: found[2] };
}

function mkdocs(project: Project): Site | undefined {
  const file = project.first('mkdocs.yml', 'mkdocs.yaml');
  if (file === undefined) return undefined;
  const isMaterial = project.repository.find(file, /^\s*(?:name|theme):\s*["']?material\b/) !== undefined;
  const isMain = pythonDependencies(project).has('mkdocs') || !hasCode(project);
  return {
    name: 'mkdocs',
    language: 'python',
    file,
    build: 'mkdocs build',
    output: siteValue(project, file, 'site_dir') ?? 'site',
    score: isMain ? 0.85 : 0.45,
    needs: requirementsFile(project) ? undefined : isMaterial ? 'mkdocs-material' : 'mkdocs',
  };
}

function pelican(project: Project): Site | undefined {
  const file = project.first('pelicanconf.py');
  if (file === undefined) return undefined;
  const settings = project.has('publishconf.py') ? 'publishconf.py' : 'pelicanconf.py';
  const build = `pelican content -o output -s ${settings}`;
  return { name: 'pelican', language: 'python', file, build, output: 'output', needs: "'pelican[markdown]'" };
}

/** Sphinx, and Nikola, whose configuration has the same name. */
function sphinx(project: Project): Site | undefined {
  const { repository, path } = project;
  const file = project.first(
    'conf.py',
    'docs/conf.py',
    'docs/source/conf.py',
    'source/conf.py',
    'doc/conf.py',
  );
  // The folder above speaks for its documentation.
  if (file === undefined || /(?:^|\/)(?:docs?|source)$/.test(path)) return undefined;
  const common = { language: 'python', file } as const;
  if (repository.find(file, /^BLOG_TITLE\s*=/))
    return { ...common, name: 'nikola', build: 'nikola build', output: 'output', needs: "'nikola[extras]'" };
  if (!repository.find(file, /^(?:html_theme|extensions|project)\s*=/)) return undefined;
  const folder = project.relative(file).replace(/\/?conf\.py$/, '') || '.';
  const base = folder.replace(/\/?source$/, '');
  const output = base === '.' || base === '' ? '_build/html' : `${base}/_build/html`;
  return {
    ...common,
    name: 'sphinx',
    build: `sphinx-build -b html ${folder} ${output}`,
    output,
    score: hasCode(project) ? 0.4 : 0.6,
    needs: requirementsFile(project) ? undefined : 'sphinx',
  };
}
