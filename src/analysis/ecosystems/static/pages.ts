/** Pages that are served as they are: an index.html, a Staticfile, or a folder that holds nothing else. */
import type { Candidate, Detector } from '../../detector.ts';
import { certain, conventional, evidenced } from '../../evidence.ts';
import type { Project } from '../../project.ts';
import { stringAt } from '../../readers/shape.ts';
import { nameOf } from '../../repository.ts';
import { candidate, staticSite } from '../draft.ts';

const manifests =
  `package.json deno.json requirements.txt pyproject.toml Pipfile manage.py go.mod Cargo.toml pom.xml build.gradle
  build.gradle.kts composer.json Gemfile mix.exs build.sbt Package.swift pubspec.yaml gleam.toml project.clj deps.edn
  stack.yaml shard.yml`.split(/\s+/);
const folders = 'public dist www site html build htdocs public_html static web docs src app'.split(' ');
const frontNames =
  /^(?:front|frontend|front-end|client|web|webapp|www|site|website|ui|landing|homepage|public_html)$/;

export const pages: Detector = {
  name: 'pages',
  detect(project) {
    const { files, isRoot } = project;
    const declared = files.has('Staticfile') ? project.at('Staticfile') : undefined;
    if (declared) return [page(project, staticRoot(project), declared, 0.7)];
    if (files.has('index.html') || files.has('index.htm')) return own(project, project.at('index.html'));
    if (!isRoot) return [];
    const folder = folders.find((name) => project.has(`${name}/index.html`));
    if (folder !== undefined)
      return [page(project, folder, project.at(`${folder}/index.html`), isOnlyPages(project) ? 0.5 : 0.2)];
    const [lone] = project.withEnding('.html');
    return lone === undefined ? [] : [page(project, '.', lone, 0.3)];
  },
};

function own(project: Project, file: string): readonly Candidate[] {
  const { path, isRoot } = project;
  if (isRoot) return [page(project, '.', file, isOnlyPages(project) ? 0.55 : 0.4)];
  // A folder of pages beside a server is a second app only if its name says so and nothing above it is one.
  if (project.upwards(...manifests)) return [];
  const isFront = frontNames.test(nameOf(path)) && depthIn(project, path) <= 2;
  return [page(project, '.', file, isFront ? 0.5 : 0.25)];
}

/** Counted from the folder that the analysis is about. */
function depthIn({ repository }: Project, path: string): number {
  return repository.folders.within(path).split('/').length;
}

/** No project of any language anywhere: then pages are what this repository is. */
function isOnlyPages(project: Project): boolean {
  const { repository, path: directory } = project;
  const prefix = directory === '' ? '' : `${directory}/`;
  for (const { path, files } of repository.directories.values()) {
    const isInside = path === directory || path.startsWith(prefix);
    if (isInside && depthIn(project, path) <= 3 && manifests.some((name) => files.has(name))) return false;
  }
  return true;
}

function page(project: Project, output: string, file: string, score: number): Candidate {
  const certainty = score >= 0.5 ? certain : conventional;
  return candidate('pages', project.path, score, {
    language: evidenced('html', certain, file, 'HTML'),
    ...staticSite({ directory: output, isSinglePage: false }, file, 'pages', certainty),
  });
}

/** `root: public`, or an empty file that says everything here is served. */
function staticRoot(project: Project): string {
  const isEmpty = (project.text('Staticfile') ?? '').trim() === '';
  const root = isEmpty ? undefined : stringAt(project.yaml('Staticfile'), 'root');
  if (root !== undefined && /^[\w./-]{1,200}$/.test(root))
    return root.replace(/^\.?\//, '').replace(/\/$/, '') || '.';
  return project.has('index.html') || !project.has('public/index.html') ? '.' : 'public';
}
