/** Angular names its output in angular.json, and with its own server builder also where the server lies. */

import { certain, conventional, evidenced } from '../../../evidence.ts';
import { isParsed, join, type Parsed } from '../../../repository.ts';
import { configuredFolder, settingAt } from './config-value.ts';
import type { RenderingRule } from './framework.ts';

export const angularRendering: RenderingRule = (package_) => {
  const { manifest } = package_;
  const workspace = package_.json('angular.json');
  const [name, project] = mainProject(workspace);
  const options =
    settingAt(project, 'architect.build.options') ?? settingAt(project, 'targets.build.options');
  const builder = String(
    settingAt(project, 'architect.build.builder') ?? settingAt(project, 'targets.build.builder') ?? '',
  );
  const path = settingAt(options, 'outputPath');
  const base =
    configuredFolder(isParsed(path) ? path.base : path) ?? `dist/${name ?? manifest.name ?? 'app'}`;
  // The application builder puts the browser's files into a folder of their own.
  const isNew =
    /:application$/.test(builder) || (builder === '' && manifest.devDependencies.has('@angular/build'));
  const inner = isParsed(path) && typeof path.browser === 'string' ? path.browser : 'browser';
  const mode = settingAt(options, 'outputMode');
  const hasServer =
    mode === 'server' ||
    (mode !== 'static' && Boolean(settingAt(options, 'ssr')) && manifest.dependencies.has('@angular/ssr'));
  const source = package_.first('angular.json') ?? manifest.file;
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
};

function mainProject(workspace: Parsed | undefined): [string | undefined, unknown] {
  const projects = isParsed(workspace?.projects) ? Object.entries(workspace.projects) : [];
  const byDefault = projects.find(([name]) => name === workspace?.defaultProject);
  const application = projects.find(([, each]) => settingAt(each, 'projectType') === 'application');
  return byDefault ?? application ?? projects[0] ?? [undefined, undefined];
}
