/** Pages that are served as they are: an index.html, a Staticfile, or a folder that holds nothing else. */
import type { Candidate, Detector } from '../../detector.ts';
import { certain, conventional, evidenced } from '../../evidence.ts';
import { isParsed, join, parentOf, type Repository } from '../../repository.ts';
import { candidate } from '../draft.ts';

const manifests =
  `package.json deno.json requirements.txt pyproject.toml Pipfile manage.py go.mod Cargo.toml pom.xml build.gradle
  build.gradle.kts composer.json Gemfile mix.exs build.sbt Package.swift pubspec.yaml gleam.toml project.clj deps.edn
  stack.yaml shard.yml`.split(/\s+/);
const folders = [
  'public',
  'dist',
  'www',
  'site',
  'html',
  'build',
  'htdocs',
  'public_html',
  'static',
  'web',
  'docs',
  'src',
  'app',
];
const frontNames =
  /^(?:front|frontend|front-end|client|web|webapp|www|site|website|ui|landing|homepage|public_html)$/;

export const pages: Detector = {
  name: 'pages',
  detect(directory, repository) {
    const { path, files } = directory;
    const declared = files.has('Staticfile') ? join(path, 'Staticfile') : undefined;
    if (declared) return [page(path, staticRoot(repository, declared), declared, 0.7)];
    if (files.has('index.html') || files.has('index.htm'))
      return own(repository, path, join(path, 'index.html'));
    if (path !== repository.root) return [];
    const folder = folders.find((name) => repository.has(join(path, `${name}/index.html`)));
    if (folder !== undefined)
      return [
        page(path, folder, join(path, `${folder}/index.html`), isOnlyPages(repository, path) ? 0.5 : 0.2),
      ];
    const [lone] = [...files].filter((name) => name.endsWith('.html')).sort();
    return lone === undefined ? [] : [page(path, '.', join(path, lone), 0.3)];
  },
};

function own(repository: Repository, path: string, file: string): readonly Candidate[] {
  if (path === repository.root) return [page(path, '.', file, isOnlyPages(repository, path) ? 0.55 : 0.4)];
  const name = path.slice(path.lastIndexOf('/') + 1);
  // A folder of pages beside a server is a second app only if its name says so and nothing above it is one.
  for (let at: string | undefined = path; at !== undefined; at = parentOf(at)) {
    if (repository.firstOf(at, manifests)) return [];
  }
  return [page(path, '.', file, frontNames.test(name) && path.split('/').length <= 2 ? 0.5 : 0.25)];
}

/** No project of any language anywhere: then pages are what this repository is. */
function isOnlyPages(repository: Repository, directory: string): boolean {
  const prefix = directory === '' ? '' : `${directory}/`;
  for (const { path, files } of repository.directories.values()) {
    const isInside = path === directory || path.startsWith(prefix);
    if (isInside && path.split('/').length <= 3 && manifests.some((name) => files.has(name))) return false;
  }
  return true;
}

function page(directory: string, output: string, file: string, score: number): Candidate {
  const draft = {
    language: evidenced('html', certain, file, 'HTML'),
    startCommand: evidenced(null, conventional, file, 'served as files'),
    staticOutput: evidenced(
      { directory: output, isSinglePage: false },
      score >= 0.5 ? certain : conventional,
      file,
      'pages',
    ),
  };
  return candidate('pages', directory, score, draft);
}

/** `root: public`, or an empty file that says everything here is served. */
function staticRoot(repository: Repository, file: string): string {
  const text = repository.text(file) ?? '';
  const settings: unknown = text.trim() === '' ? undefined : repository.yaml(file);
  const root = isParsed(settings) ? settings.root : undefined;
  const here = parentOf(file) ?? '';
  if (typeof root === 'string' && /^[\w./-]{1,200}$/.test(root))
    return root.replace(/^\.?\//, '').replace(/\/$/, '') || '.';
  return repository.has(join(here, 'index.html')) || !repository.has(join(here, 'public/index.html'))
    ? '.'
    : 'public';
}
