/** Ruby: gems are compiled in the full image and run in the slim one, with the libraries that some of them load. */

import { lockedGems } from '../../ecosystems/ruby/gems.ts';
import { ownInstall, type Request, requiredStart, writtenFolders } from '../request.ts';
import { versionOf } from '../steps/base-images.ts';
import {
  addArguments,
  addProcess,
  addRun,
  addSystemPackages,
  addUser,
  type Cache,
  copyManifests,
} from '../steps/build-steps.ts';
import { addNodeTools, needsNodeTools } from '../steps/node-tools.ts';
import { addStaticOutput } from '../steps/web-server.ts';
import { startForm } from '../text/command-line.ts';
import type { Document } from '../text/document.ts';
import { copy } from '../text/grammar.ts';

const gemCache: Cache = { id: 'gems', target: '/root/.bundle/cache' };
const libraries: readonly (readonly [gem: string, library: string])[] = [
  ['pg', 'libpq5'],
  ['mysql2', 'libmariadb3'],
  ['sqlite3', 'libsqlite3-0'],
  ['ruby-vips', 'libvips42'],
  ['rmagick', 'imagemagick'],
];

export function rubyDockerfile(document: Document, request: Request): number {
  const { version, why } = versionOf(request, 'ruby');
  const { project } = request;
  const lock = lockedGems(request.files, project.at('Gemfile.lock'));
  const stage = document.stage(
    'build',
    `ruby:${version}`,
    `${why}; the full image has the compilers that gems need`,
  );
  addSystemPackages(stage, request.systemPackages, 'Debian packages that were asked for');
  stage.workdir('/app');
  const settings = {
    BUNDLE_WITHOUT: 'development:test',
    ...(lock ? { BUNDLE_DEPLOYMENT: '1' } : {}),
    BUNDLE_PATH: '/usr/local/bundle',
  };
  const rails =
    request.app.framework === 'rails'
      ? { RAILS_ENV: 'production', RAILS_LOG_TO_STDOUT: '1', RAILS_SERVE_STATIC_FILES: '1' }
      : { RACK_ENV: 'production' };
  // A generator of pages is itself a gem for development, as people sort them.
  stage.env(
    request.staticOutput ? {} : { ...settings, ...rails },
    'Only gems that the app needs while it runs',
  );
  stage.env({ BUNDLE_GLOBAL_GEM_CACHE: 'true' });
  addArguments(stage, request, 'install');
  if (project.files.has('Gemfile')) {
    copyManifests(stage, request, ['Gemfile', 'Gemfile.lock', '.ruby-version', '.tool-versions']);
    const install = ownInstall(request, 'bundle install');
    addRun(stage, request, install, [gemCache], 'Installed with downloads kept between builds');
  }
  if (needsNodeTools(request)) addNodeTools(stage, request);
  stage.add(copy([request.source], './'));
  addArguments(stage, request, 'build');
  if (request.buildCommand !== null) {
    const dummy = request.app.framework === 'rails' ? 'SECRET_KEY_BASE_DUMMY=1 ' : '';
    const isSimple =
      !request.isSet('buildCommand') &&
      /^bundle exec [\w: /-]+$|^(bin\/)?(rails|rake) [\w: -]+$/.test(request.buildCommand);
    addRun(
      stage,
      request,
      `${isSimple ? dummy : ''}${request.buildCommand}`,
      [],
      'The build; Rails needs some key to start, and none of it is kept',
    );
  }
  if (request.staticOutput) return addStaticOutput(document, request, request.staticOutput, '/app');
  if (needsNodeTools(request)) stage.add('RUN rm -rf node_modules', 'Needed by the build only');
  const start = requiredStart(request, '"bundle exec puma"');
  const runtime = document.runtime(
    `ruby:${version}-slim`,
    'What runs starts from a clean image, without compilers',
  );
  const needed = libraries.filter(([gem]) => lock?.versions.has(gem)).map(([, library]) => library);
  addSystemPackages(runtime, [...request.systemPackages, ...needed], 'Libraries that gems load');
  addUser(runtime, writtenFolders(request, '/app'));
  runtime.workdir('/app');
  runtime.env({ ...settings, ...rails });
  runtime.add(
    copy(['/usr/local/bundle/'], '/usr/local/bundle/', ['--from=build']),
    'Gems as they were compiled',
  );
  runtime.add(copy(['/app/'], './', ['--from=build', '--chown=10001:10001']), 'The app as built');
  const port = request.port ?? 3000;
  runtime.env({ PORT: port });
  return addProcess(runtime, request, {
    port,
    healthCheck: 'ruby',
    argv: startForm(start).argv,
    why: 'The program itself takes the place of the shell, so that it gets SIGTERM',
  });
}
