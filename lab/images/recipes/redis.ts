/** Redis 8 as Debian builds it: without the modules (JSON, search and so on) that the official image adds. */
import type { ImageRecipe } from './recipe.ts';
import { plainPath } from './recipe.ts';

const setup = `
groupmod --gid 999 redis
usermod --uid 999 --gid 999 redis
mkdir -p /data
chown redis:redis /data
ln -s /usr/bin/redis-server /usr/local/bin/redis-server
ln -sf /usr/bin/redis-server /usr/local/bin/redis-sentinel
rm -rf /etc/redis /etc/init.d/redis-server /var/lib/redis /var/lib/apt/lists/* /var/log/*
`;

export const redis: ImageRecipe = {
  name: 'redis',
  tags: ['8', '8.0', '8-trixie', '8.0-trixie', 'latest'],
  parent: 'debian:trixie-slim',
  packages: ['redis-server'],
  rootfs: 'redis',
  setup,
  config: {
    Env: [plainPath, 'REDIS_VERSION=8.0.2'],
    Entrypoint: ['docker-entrypoint.sh'],
    Cmd: ['redis-server'],
    ExposedPorts: { '6379/tcp': {} },
    Volumes: { '/data': {} },
    WorkingDir: '/data',
  },
};
