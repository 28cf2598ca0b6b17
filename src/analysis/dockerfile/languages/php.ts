/**
 * PHP behind Apache, as a user without rights on a high port. The servers built into PHP and Laravel answer one request
 * at a time and are for development, so they are replaced; a start command that a person set is not.
 */

import { objectAt, stringAt } from '../../readers/shape.ts';
import { join } from '../../repository.ts';
import type { Cache, Document, Stage } from '../document.ts';
import { ownInstall, type Request } from '../request.ts';
import { imageVersionOf } from '../steps/base-images.ts';
import { nodeToolsInstall } from '../steps/node-tools.ts';
import { startForm } from '../text/command-line.ts';
import { isPlainPath, run } from '../text/grammar.ts';

const composerCache: Cache = { id: 'composer', target: '/tmp/cache' };

/** What an extension needs to be compiled; those without an entry need nothing, those not here are part of PHP. */
const extensions: Readonly<Record<string, readonly string[]>> = {
  bcmath: [],
  calendar: [],
  exif: [],
  gd: ['libpng-dev', 'libjpeg-dev', 'libwebp-dev', 'libfreetype-dev'],
  gmp: ['libgmp-dev'],
  intl: ['libicu-dev'],
  mysqli: [],
  pcntl: [],
  pdo_mysql: [],
  pdo_pgsql: ['libpq-dev'],
  pgsql: ['libpq-dev'],
  soap: ['libxml2-dev'],
  sockets: [],
  xsl: ['libxslt1-dev'],
  zip: ['libzip-dev'],
};

const variable = '$' + '{PORT}';
const site = '/etc/apache2/sites-available/000-default.conf';
const highPort = `sed -ri 's/^Listen 80$/Listen ${variable}/' /etc/apache2/ports.conf && sed -ri 's/<VirtualHost [*]:80>/<VirtualHost *:${variable}>/' ${site} && a2enmod rewrite headers`;

/** `root` was looked at before: nothing in it means anything to a shell or to sed. */
function folderServed(root: string): string {
  const folder = root === '' ? '/var/www/html' : `/var/www/html/${root}`;
  const rules = `printf '%s\\n' '<Directory ${folder}>' 'AllowOverride All' '</Directory>' > /etc/apache2/conf-enabled/app.conf`;
  return root === '' ? rules : `sed -ri 's!/var/www/html!${folder}!' ${site} && ${rules}`;
}

export function phpDockerfile(document: Document, request: Request): number {
  const { version, why } = imageVersionOf(request, 'php', 2);
  const names = request.project.files;
  const hasComposer = names.has('composer.json');
  const hasAssets =
    names.has('package.json') &&
    /\b(npm|pnpm|yarn|bun|vite)\b/.test(
      `${request.buildCommand ?? ''} ${request.installCommand ?? ''} ${hasBuildScript(request) ? 'npm' : ''}`,
    );
  if (hasAssets) addAssets(document, request, names);
  const stage = document.runtime(`php:${version}-apache`, why);
  addExtensions(stage, request);
  stage.add(`RUN ${highPort}`, 'Apache on a port that needs no rights; it reads PORT when it starts');
  const root = documentRoot(request);
  stage.add(`RUN ${folderServed(root)}`, 'Only this folder is served, with the rules of its .htaccess');
  stage.workdir('/var/www/html');
  if (hasComposer) {
    stage.copy(['/usr/bin/composer'], '/usr/bin/composer', undefined, ['--from=composer:2']);
    stage.env({ COMPOSER_ALLOW_SUPERUSER: '1', COMPOSER_CACHE_DIR: '/tmp/cache' });
    stage.arguments('install');
    stage.copyManifests(['composer.json', 'composer.lock']);
    const install = 'composer install --no-dev --no-scripts --no-autoloader --prefer-dist --no-interaction';
    stage.run(ownInstall(request, install), 'Without what is for development', [composerCache]);
  }
  stage.copy([request.source], './', undefined, ['--chown=33:33']);
  if (hasComposer) {
    stage.arguments('build');
    stage.plainRun(
      'composer dump-autoload --optimize --no-dev --no-interaction',
      'With the sources there, classes are found without looking for files',
      [composerCache],
    );
  }
  if (hasAssets)
    stage.copy(['/app/public/'], './public/', 'What the JavaScript tools have made', [
      '--from=assets',
      '--chown=33:33',
    ]);
  if (names.has('artisan'))
    stage.add(
      'RUN install -d -o 33 -g 33 storage/framework/cache storage/framework/sessions storage/framework/views storage/logs bootstrap/cache',
      'Laravel writes here',
    );
  const port = request.port ?? 8080;
  stage.env({ PORT: port });
  const start = request.startCommand ?? 'apache2-foreground';
  const isDevelopment =
    /^(php (artisan serve|-S\b)|symfony |apache2-foreground|heroku-php|vendor\/bin\/heroku-php)/.test(start);
  const isReplaced = isDevelopment && !request.isSet('startCommand');
  return stage.process({
    port,
    user: '33:33',
    whyUser: 'The user "www-data" of the image, by number, so that anyone can see it is not root',
    healthCheck: 'php',
    argv: isReplaced ? ['apache2-foreground'] : startForm(start).argv,
    why: isReplaced
      ? 'Instead of the server for development, which answers one request at a time'
      : 'As the start command says',
  });
}

function hasBuildScript(request: Request): boolean {
  return stringAt(request.project.json('package.json'), 'scripts', 'build') !== undefined;
}

function documentRoot(request: Request): string {
  const set = /(?:-t|--docroot)[ =](\S+)/.exec(request.startCommand ?? '')?.[1]?.replace(/^\.\/|\/$/g, '');
  if (set !== undefined && isPlainPath(set) && !set.startsWith('/') && !set.includes(' '))
    return set === '.' ? '' : set;
  const found = ['public', 'web', 'webroot', 'htdocs'].find((name) =>
    request.project.has(`${name}/index.php`),
  );
  return found ?? '';
}

function addExtensions(stage: Stage, request: Request): void {
  const required = Object.keys(objectAt(request.project.json('composer.json'), 'require'))
    .filter((name) => name.startsWith('ext-'))
    .map((name) => name.slice(4).replace('-', '_'));
  const isFramework = ['laravel', 'symfony'].includes(request.app.framework ?? '');
  const wanted = [
    ...new Set([
      ...required,
      ...(isFramework ? ['pdo_mysql', 'pdo_pgsql', 'bcmath', 'intl', 'zip', 'pcntl'] : []),
    ]),
  ]
    .filter((name) => Object.hasOwn(extensions, name))
    .sort();
  const packages = wanted.flatMap((name) => extensions[name] ?? []);
  const hasComposer = request.project.files.has('composer.json');
  stage.systemPackages(
    [...request.systemPackages, ...packages, ...(hasComposer ? ['git', 'unzip'] : [])],
    'What the extensions are compiled with, and what Composer unpacks with',
  );
  if (wanted.length > 0)
    stage.add(
      run(`docker-php-ext-install -j"$(nproc)" ${wanted.join(' ')}`),
      'Extensions that composer.json or the framework asks for',
    );
}

function addAssets(document: Document, request: Request, names: ReadonlySet<string>): void {
  const stage = document.stage(
    'assets',
    `node:${imageVersionOf(request, 'node').version}-slim`,
    'Pages of this app are built by JavaScript tools; none of them gets into the image',
  );
  stage.workdir('/app');
  const locks = ['package-lock.json', 'pnpm-lock.yaml', 'yarn.lock', '.npmrc'].filter((name) =>
    names.has(name),
  );
  const manifests = ['package.json', ...locks].map((name) => request.project.at(name));
  stage.copy(manifests, './');
  const install = nodeToolsInstall(names);
  stage.arguments('install');
  stage.run(install, 'Installed by the lock file, with downloads kept between builds', [
    { id: 'npm', target: '/root/.npm' },
  ]);
  stage.copy([request.source], './');
  stage.arguments('build');
  stage.run('npm run build', 'The build of the pages');
  stage.add(run(`mkdir -p ${join('/app', 'public')}`));
}
