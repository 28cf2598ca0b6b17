/** Ruby: gems are compiled in the full image and run in the slim one, with the libraries that some of them load. */

import { lockedGems } from '../../ecosystems/ruby/gems.ts';
import type { Cache, Document } from '../document.ts';
import { ownInstall, type Request, requiredStart, writtenFolders } from '../request.ts';
import { imageVersionOf } from '../steps/base-images.ts';
import { addNodeTools, needsNodeTools } from '../steps/node-tools.ts';
import { addStaticOutput } from '../steps/web-server.ts';
import { startForm } from '../text/command-line.ts';

const gemCache: Cache = { id: 'gems', target: '/root/.bundle/cache' };
const libraries: readonly (readonly [gem: string, library: string])[] = [
  ['pg', 'libpq5'],
  ['mysql2', 'libmariadb3'],
  ['sqlite3', 'libsqlite3-0'],
  ['ruby-vips', 'libvips42'],
  ['rmagick', 'imagemagick'],
];

export function rubyDockerfile(document: Document, request: Request): number {
  const { version, why } = imageVersionOf(request, 'ruby');
  const { project } = request;
  const lock = lockedGems(request.files, project.at('Gemfile.lock'));
  const stage = document.stage(
    'build',
    `ruby:${version}`,
    `${why}; the full image has the compilers that gems need`,
  );
  stage.systemPackages();
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
  stage.arguments('install');
  if (project.files.has('Gemfile')) {
    stage.copyManifests(['Gemfile', 'Gemfile.lock', '.ruby-version', '.tool-versions']);
    const install = ownInstall(request, 'bundle install');
    stage.run(install, 'Installed with downloads kept between builds', [gemCache]);
  }
  if (needsNodeTools(request)) addNodeTools(stage, request);
  stage.copy([request.source], './');
  stage.arguments('build');
  if (request.buildCommand !== null) {
    const dummy = request.app.framework === 'rails' ? 'SECRET_KEY_BASE_DUMMY=1 ' : '';
    const isSimple =
      !request.isSet('buildCommand') &&
      /^bundle exec [\w: /-]+$|^(bin\/)?(rails|rake) [\w: -]+$/.test(request.buildCommand);
    stage.run(
      `${isSimple ? dummy : ''}${request.buildCommand}`,
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
  runtime.systemPackages([...request.systemPackages, ...needed], 'Libraries that gems load');
  runtime.user(writtenFolders(request, '/app'));
  runtime.workdir('/app');
  runtime.env({ ...settings, ...rails });
  runtime.copy(['/usr/local/bundle/'], '/usr/local/bundle/', 'Gems as they were compiled', ['--from=build']);
  runtime.copy(['/app/'], './', 'The app as built', ['--from=build', '--chown=10001:10001']);
  const port = request.port ?? 3000;
  runtime.env({ PORT: port });
  return runtime.process({
    port,
    healthCheck: 'ruby',
    argv: startForm(start).argv,
    why: 'The program itself takes the place of the shell, so that it gets SIGTERM',
  });
}
