/** nginx 1.26 with the official image's layout: conf.d, templates, logs to the container's output. */
import type { ImageRecipe } from './recipe.ts';
import { plainPath } from './recipe.ts';

const setup = `
groupadd --system --gid 101 nginx
useradd --system --uid 101 --gid nginx --home-dir /var/cache/nginx --no-create-home --shell /usr/sbin/nologin nginx
rm -rf /etc/nginx/sites-available /etc/nginx/sites-enabled /etc/nginx/modules-available /etc/nginx/snippets
mv /usr/local/share/lab/nginx.conf /etc/nginx/nginx.conf
mv /usr/local/share/lab/default.conf /etc/nginx/conf.d/default.conf
mv /usr/local/share/lab/50x.html /usr/share/nginx/html/50x.html
rm -rf /usr/local/share/lab /var/www /usr/share/vim
rm -rf /var/lib/apt/lists/* /var/log/*
mkdir -p /var/log/nginx
ln -s /dev/stdout /var/log/nginx/access.log
ln -s /dev/stderr /var/log/nginx/error.log
nginx -t
rm -f /run/nginx.pid
`;

export const nginx: ImageRecipe = {
  name: 'nginx',
  tags: ['1.26', '1.26-trixie', 'stable', 'stable-trixie', 'latest'],
  parent: 'debian:trixie-slim',
  packages: ['gettext-base', 'nginx'],
  rootfs: 'nginx',
  setup,
  config: {
    Env: [plainPath, 'NGINX_VERSION=1.26.3'],
    Entrypoint: ['/docker-entrypoint.sh'],
    Cmd: ['nginx', '-g', 'daemon off;'],
    ExposedPorts: { '80/tcp': {} },
    StopSignal: 'SIGQUIT',
  },
};
