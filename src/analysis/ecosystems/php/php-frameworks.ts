/** Frameworks and systems of PHP, by the package that means them or by files that only they have. */
import type { Project } from '../../project.ts';

export interface PhpFramework {
  readonly name: string;
  readonly mark: string;
  readonly root: string;
  /** Of those that bring a server of their own; the others are served by Apache. */
  readonly start?: string;
  readonly port?: number;
}

const byPackage: readonly (readonly [string, string, string, Partial<PhpFramework>?])[] = [
  ['laravel/framework', 'laravel', 'public'],
  ['laravel/lumen-framework', 'lumen', 'public'],
  ['drupal/core-recommended', 'drupal', 'web'],
  ['drupal/core', 'drupal', 'web'],
  ['craftcms/cms', 'craft', 'web'],
  ['roots/wordpress', 'wordpress', 'web'],
  ['johnpbloch/wordpress', 'wordpress', '.'],
  ['typo3/cms-core', 'typo3', 'public'],
  ['getkirby/cms', 'kirby', '.'],
  ['shopware/core', 'shopware', 'public'],
  ['sylius/sylius', 'sylius', 'public'],
  ['magento/product-community-edition', 'magento', 'pub'],
  ['symfony/framework-bundle', 'symfony', 'public'],
  ['symfony/symfony', 'symfony', 'public'],
  ['slim/slim', 'slim', 'public'],
  ['codeigniter4/framework', 'codeigniter', 'public'],
  ['codeigniter/framework', 'codeigniter', '.'],
  ['cakephp/cakephp', 'cakephp', 'webroot'],
  ['yiisoft/yii2', 'yii', 'web'],
  ['yiisoft/yii-http', 'yii', 'public'],
  ['laminas/laminas-mvc', 'laminas', 'public'],
  ['mezzio/mezzio', 'mezzio', 'public'],
  ['nette/application', 'nette', 'www'],
  ['spiral/framework', 'spiral', 'public'],
  ['hyperf/framework', 'hyperf', '.', { start: 'php bin/hyperf.php start', port: 9501 }],
  ['hyperf/http-server', 'hyperf', '.', { start: 'php bin/hyperf.php start', port: 9501 }],
  ['workerman/webman-framework', 'webman', 'public', { start: 'php start.php start', port: 8787 }],
  ['leafs/leaf', 'leaf', '.'],
  ['mikecao/flight', 'flight', '.'],
  ['flightphp/core', 'flight', '.'],
  ['league/route', 'league-route', 'public'],
];

export function phpFramework(project: Project, packages: object): PhpFramework | undefined {
  const found = byPackage.find(([name]) => Object.hasOwn(packages, name));
  if (found) return { mark: found[0], name: found[1], root: found[2], ...found[3] };
  if (project.has('artisan')) return { name: 'laravel', mark: 'artisan', root: 'public' };
  if (project.first('wp-load.php', 'wp-config.php', 'wp-config-sample.php'))
    return { name: 'wordpress', mark: 'wp-config.php', root: '.' };
  if (project.has('bin/console') && project.has('config/bundles.php'))
    return { name: 'symfony', mark: 'config/bundles.php', root: 'public' };
  return undefined;
}

/** The web server of PHP's own image, which is what serves pages here. */
export const apache = 'apache2-foreground';

/** Servers for development answer one request at a time, those of another platform are not in the image. */
export function isReplacedByApache(command: string): boolean {
  return /^(?:php artisan (?:serve|octane:start)|php -S|symfony (?:serve|server|local)|(?:vendor\/bin\/)?heroku-php-(?:apache2|nginx)|apache2-foreground)\b/.test(
    command,
  );
}

const roots = ['public', '.', 'web', 'webroot', 'htdocs', 'www', 'public_html', 'docroot', 'html', 'src'];

/** The folder that is served, from the app's own; `undefined` where nothing is. */
export function documentRoot(project: Project, framework: PhpFramework | undefined): string | undefined {
  const usual = framework?.root;
  const found = [...(usual === undefined ? [] : [usual]), ...roots].find((root) => {
    const folder = root === '.' ? '' : `${root}/`;
    return project.first(`${folder}index.php`, `${folder}wp-load.php`) !== undefined;
  });
  return found ?? usual;
}
