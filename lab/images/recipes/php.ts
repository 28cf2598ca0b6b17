/**
 * PHP 8.4 as a module of Apache, and Composer. Extensions come from Debian's packages: `docker-php-ext-install` and
 * `pecl` install those, so a Dockerfile that names one is proven, and its compilation is not. No repository of packages
 * is reachable in the lab: Composer installs what needs none.
 */
import { hostCertificates, opensslCertificates } from './host-certificates.ts';
import type { ImageRecipe } from './recipe.ts';
import { plainPath } from './recipe.ts';

// Writable by anyone, as in the official image, so that a user without rights can run it.
const setup = `
cp /usr/local/share/ca-certificates/lab-host.crt /etc/ssl/certs/ca-certificates.crt
a2dismod -q mpm_event
a2enmod -q mpm_prefork php8.4
mkdir -p /var/run/apache2 /var/lock/apache2 /var/log/apache2 /var/www/html
chown -R www-data:www-data /var/run/apache2 /var/lock/apache2 /var/log/apache2 /var/www/html
chmod 1777 /var/run/apache2 /var/lock/apache2 /var/log/apache2 /var/www/html
rm -f /var/www/html/index.html
ln -sf /dev/stderr /var/log/apache2/error.log
ln -sf /dev/stdout /var/log/apache2/access.log
ln -sf /dev/stdout /var/log/apache2/other_vhosts_access.log
ln -s /usr/bin/php /usr/local/bin/php
composer --version
rm -rf /var/lib/apt/lists/* /var/cache/apt/* /tmp/*
`;

export const php: ImageRecipe = {
  name: 'php',
  tags: ['8.4-apache', '8.4-apache-trixie', '8-apache', 'apache'],
  parent: 'debian:trixie-slim',
  packages: [
    'apache2',
    'ca-certificates',
    'composer',
    'libapache2-mod-php8.4',
    'php8.4-cli',
    'php8.4-curl',
    'php8.4-mbstring',
    'php8.4-sqlite3',
    'php8.4-xml',
  ],
  rootfs: 'php',
  fromHost: hostCertificates,
  setup,
  config: {
    Env: [plainPath, 'PHP_VERSION=8.4.11', opensslCertificates],
    Cmd: ['apache2-foreground'],
    WorkingDir: '/var/www/html',
    StopSignal: 'SIGWINCH',
    ExposedPorts: { '80/tcp': {} },
  },
};

/** Dockerfiles take one file of it, which finds the rest of Composer in the lab's PHP image. */
export const composer: ImageRecipe = {
  name: 'composer',
  tags: ['2', 'latest'],
  parent: 'php:8.4-apache',
  packages: [],
  config: { Env: [plainPath], Cmd: ['composer'] },
};
