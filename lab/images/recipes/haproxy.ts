/** HAProxy 3.0. As in the official image there is no configuration inside: the user brings one. */
import type { ImageRecipe } from './recipe.ts';
import { plainPath } from './recipe.ts';

const setup = `
groupmod --gid 99 haproxy
usermod --uid 99 --gid 99 --home /var/lib/haproxy haproxy
mkdir -p /usr/local/etc/haproxy
cp -R /etc/haproxy/errors /usr/local/etc/haproxy/errors
ln -s /usr/sbin/haproxy /usr/local/sbin/haproxy
rm -rf /etc/haproxy /etc/init.d/haproxy /var/lib/haproxy/dev
chown haproxy:haproxy /var/lib/haproxy
rm -rf /var/lib/apt/lists/* /var/log/*
`;

export const haproxy: ImageRecipe = {
  name: 'haproxy',
  tags: ['3.0', '3.0-trixie', 'lts', 'latest'],
  parent: 'debian:trixie-slim',
  packages: ['haproxy'],
  rootfs: 'haproxy',
  setup,
  config: {
    Env: [plainPath, 'HAPROXY_VERSION=3.0.11'],
    Entrypoint: ['docker-entrypoint.sh'],
    Cmd: ['haproxy', '-f', '/usr/local/etc/haproxy/haproxy.cfg'],
    WorkingDir: '/var/lib/haproxy',
    User: 'haproxy',
    StopSignal: 'SIGUSR1',
  },
};
