/** Angular names its output in angular.json, and with its own server builder also where the server lies. */

import { certain, conventional, evidenced } from '../../evidence.ts';
import { isParsed, join, type Parsed } from '../../repository.ts';
import { folderOf, valueAt } from './config-value.ts';
import type { PackageContext } from './package-context.ts';
import type { Rendering } from './rendering.ts';

export function angularRendering({ repository, directory, manifest }: PackageContext): Rendering {
  const file = join(directory.path, 'angular.json');
  const workspace = repository.json(file);
  const [name, project] = mainProject(workspace);
  const options = valueAt(project, 'architect.build.options') ?? valueAt(project, 'targets.build.options');
  const builder = String(
    valueAt(project, 'architect.build.builder') ?? valueAt(project, 'targets.build.builder') ?? '',
  );
  const path = valueAt(options, 'outputPath');
  const base = folderOf(isParsed(path) ? path.base : path) ?? `dist/${name ?? manifest.name ?? 'app'}`;
  // The application builder puts the browser's files into a folder of their own.
  const isNew =
    /:application$/.test(builder) || (builder === '' && manifest.devDependencies.has('@angular/build'));
  const inner = isParsed(path) && typeof path.browser === 'string' ? path.browser : 'browser';
  const mode = valueAt(options, 'outputMode');
  const hasServer =
    mode === 'server' ||
    (mode !== 'static' && Boolean(valueAt(options, 'ssr')) && manifest.dependencies.has('@angular/ssr'));
  const source = repository.has(file) ? file : manifest.file;
  if (hasServer)
    return {
      kind: 'server',
      start: evidenced(`node ${base}/server/server.mjs`, conventional, source, 'server rendering of Angular'),
    };
  const folder = isNew && inner !== '' ? join(base, inner) : base;
  return {
    kind: 'static',
    output: evidenced(
      { directory: folder, isSinglePage: true },
      path === undefined ? conventional : certain,
      source,
      'outputPath',
    ),
  };
}

function mainProject(workspace: Parsed | undefined): [string | undefined, unknown] {
  const projects = isParsed(workspace?.projects) ? Object.entries(workspace.projects) : [];
  const byDefault = projects.find(([name]) => name === workspace?.defaultProject);
  const application = projects.find(([, each]) => valueAt(each, 'projectType') === 'application');
  return byDefault ?? application ?? projects[0] ?? [undefined, undefined];
}
