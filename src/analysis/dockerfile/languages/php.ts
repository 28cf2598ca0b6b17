/**
 * PHP behind Apache, as a user without rights on a high port. The servers built into PHP and Laravel answer one request
 * at a time and are for development, so they are replaced; a start command that a person set is not.
 */

import {
  apache,
  documentRoot,
  isReplacedByApache,
  phpFramework,
} from '../../ecosystems/php/php-frameworks.ts';
import { asObjects, objectAt, stringAt } from '../../readers/shape.ts';
import { join } from '../../repository.ts';
import type { Cache, Document, Stage } from '../document.ts';
import { ownInstall, type Request } from '../request.ts';
import { imageVersionOf } from '../steps/base-images.ts';
import { nodeToolsInstall } from '../steps/node-tools.ts';
import { startForm } from '../text/command-line.ts';
import { isPlainPath, run } from '../text/grammar.ts';

const composerCache: Cache = { id: 'composer', target: '/tmp/cache' };

/** Of PHP's own sources, with what each needs to be compiled. */
const bundled: Readonly<Record<string, readonly string[]>> = {
  bcmath: [],
  bz2: ['libbz2-dev'],
  calendar: [],
  dba: [],
  enchant: ['libenchant-2-dev'],
  exif: [],
  ffi: ['libffi-dev'],
  gd: ['libpng-dev', 'libjpeg-dev', 'libwebp-dev', 'libfreetype-dev'],
  gettext: [],
  gmp: ['libgmp-dev'],
  intl: ['libicu-dev'],
  ldap: ['libldap2-dev'],
  mysqli: [],
  pcntl: [],
  pdo_mysql: [],
  pdo_pgsql: ['libpq-dev'],
  pgsql: ['libpq-dev'],
  shmop: [],
  snmp: ['libsnmp-dev'],
  soap: ['libxml2-dev'],
  sockets: [],
  sysvmsg: [],
  sysvsem: [],
  sysvshm: [],
  tidy: ['libtidy-dev'],
  xsl: ['libxslt1-dev'],
  zip: ['libzip-dev'],
};

/** In the image as it is. */
const builtIn = new Set(
  `core ctype curl date dom fileinfo filter ftp hash iconv json libxml mbstring mysqlnd openssl pcre pdo pdo_sqlite phar posix
  random readline reflection session simplexml sodium spl sqlite3 standard tokenizer xml xmlreader xmlwriter zlib opcache
  zend_opcache`.split(/\s+/),
);

/** From PECL, where they have other libraries than PHP itself. */
const peclLibraries: Readonly<Record<string, readonly string[]>> = {
  amqp: ['librabbitmq-dev'],
  imagick: ['libmagickwand-dev'],
  memcached: ['libmemcached-dev', 'libssl-dev', 'zlib1g-dev'],
  mongodb: ['libssl-dev'],
  rdkafka: ['librdkafka-dev'],
  ssh2: ['libssh2-1-dev'],
  swoole: ['libssl-dev', 'libcurl4-openssl-dev'],
  yaml: ['libyaml-dev'],
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
  const assets = names.has('package.json') ? assetsCommand(request) : undefined;
  if (assets !== undefined) addAssets(document, request, names, assets);
  const stage = document.runtime(`php:${version}-apache`, why);
  addExtensions(stage, request);
  stage.add(`RUN ${highPort}`, 'Apache on a port that needs no rights; it reads PORT when it starts');
  const root = servedFolder(request);
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
  if (assets !== undefined)
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
  const start = request.startCommand ?? apache;
  const isReplaced = isReplacedByApache(start) && !request.isSet('startCommand');
  return stage.process({
    port,
    user: '33:33',
    whyUser: 'The user "www-data" of the image, by number, so that anyone can see it is not root',
    healthCheck: 'php',
    argv: isReplaced ? [apache] : startForm(start).argv,
    why: isReplaced
      ? 'Instead of the server for development, which answers one request at a time'
      : 'As the start command says',
  });
}

/** What builds the pages: the command of the analysis or of a person, as far as it is one of JavaScript tools. */
function assetsCommand({ buildCommand, project }: Request): string | undefined {
  if (/\b(npm|npx|pnpm|yarn|bun|node|vite|mix)\b/.test(buildCommand ?? '')) return buildCommand ?? undefined;
  const script = stringAt(project.json('package.json'), 'scripts', 'build');
  return buildCommand === null && script !== undefined ? 'npm run build' : undefined;
}

function servedFolder(request: Request): string {
  const { project, startCommand } = request;
  const set = /(?:-t|--docroot)[ =](\S+)/.exec(startCommand ?? '')?.[1]?.replace(/^\.\/|\/$/g, '');
  const isUsable = set !== undefined && isPlainPath(set) && !set.startsWith('/') && !set.includes(' ');
  const requires = objectAt(project.json('composer.json'), 'require');
  const root = isUsable ? set : documentRoot(project, phpFramework(project, requires));
  return root === undefined || root === '.' ? '' : root;
}

/** Of composer.json, and of the packages that it installs: Composer refuses to go on without any of them. */
function requiredExtensions({ project, app }: Request): readonly string[] {
  const packages = asObjects(project.json('composer.lock')?.packages);
  const required = [project.json('composer.json'), ...packages]
    .flatMap((each) => Object.keys(objectAt(each, 'require')))
    .filter((name) => /^ext-[a-z0-9_-]{2,40}$/i.test(name))
    .map((name) => name.slice(4).toLowerCase().replaceAll('-', '_'));
  const isFramework = ['laravel', 'symfony'].includes(app.framework ?? '');
  const usual = isFramework ? ['pdo_mysql', 'pdo_pgsql', 'bcmath', 'intl', 'zip', 'pcntl'] : [];
  return [...new Set([...required, ...usual])].filter((name) => !builtIn.has(name)).sort();
}

function addExtensions(stage: Stage, request: Request): void {
  const wanted = requiredExtensions(request);
  const own = wanted.filter((name) => Object.hasOwn(bundled, name));
  const others = wanted.filter((name) => !Object.hasOwn(bundled, name));
  const packages = [
    ...own.flatMap((name) => bundled[name] ?? []),
    ...others.flatMap((name) => (Object.hasOwn(peclLibraries, name) ? (peclLibraries[name] ?? []) : [])),
  ];
  const hasComposer = request.project.files.has('composer.json');
  stage.systemPackages(
    [...request.systemPackages, ...new Set(packages), ...(hasComposer ? ['git', 'unzip'] : [])],
    'What the extensions are compiled with, and what Composer unpacks with',
  );
  if (own.length > 0)
    stage.add(
      run(`docker-php-ext-install -j"$(nproc)" ${own.join(' ')}`),
      'Extensions that composer.json or the framework asks for',
    );
  if (others.length > 0)
    stage.add(
      run(`pecl install ${others.join(' ')} && docker-php-ext-enable ${others.join(' ')}`),
      'Extensions that are not part of PHP',
    );
}

function addAssets(document: Document, request: Request, names: ReadonlySet<string>, command: string): void {
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
  stage.run(command, 'The build of the pages');
  stage.add(run(`mkdir -p ${join('/app', 'public')}`));
}
