/**
 * PostgreSQL 17. Differs from the official image in two ways: the cluster's locale is C.UTF-8, as no other is
 * installed, and there is no just-in-time compiler.
 */
import type { ImageRecipe } from './recipe.ts';

// LLVM is more than half of what the package brings, and PostgreSQL does without when its module is missing.
const setup = `
rm -rf /etc/postgresql/17 /var/lib/postgresql/17
groupmod --gid 999 postgres
usermod --uid 999 --gid 999 --home /var/lib/postgresql --shell /bin/bash postgres
mkdir -p /docker-entrypoint-initdb.d /var/lib/postgresql/data /var/run/postgresql
chown -R postgres:postgres /var/lib/postgresql /var/run/postgresql
chmod 1777 /var/lib/postgresql/data
chmod 3777 /var/run/postgresql
sed -i "s/^#\\{0,1\\}listen_addresses = .*/listen_addresses = '*'/" /usr/share/postgresql/17/postgresql.conf.sample
grep -q "^listen_addresses = '\\*'" /usr/share/postgresql/17/postgresql.conf.sample
rm -rf /usr/lib/postgresql/17/lib/bitcode /usr/lib/postgresql/17/lib/llvmjit.so
rm -f /usr/lib/*/libLLVM*.so* /usr/lib/*/libz3.so*
rm -rf /usr/share/i18n /usr/share/postgresql/17/man /etc/postgresql-common/*.ucf-dist
rm -f /etc/ssl/private/ssl-cert-snakeoil.key /etc/ssl/certs/ssl-cert-snakeoil.pem
find /etc/ssl/certs -xtype l -delete
rm -rf /var/lib/apt/lists/* /var/log/*
`;

export const postgres: ImageRecipe = {
  name: 'postgres',
  tags: ['17', '17-trixie', 'latest'],
  parent: 'debian:trixie-slim',
  packages: ['postgresql-17'],
  rootfs: 'postgres',
  setup,
  config: {
    Env: [
      // Before /usr/bin, where Debian has slower wrappers of the same names that look for several clusters.
      'PATH=/usr/local/sbin:/usr/local/bin:/usr/lib/postgresql/17/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      'LANG=C.UTF-8',
      'PG_MAJOR=17',
      'PGDATA=/var/lib/postgresql/data',
    ],
    Entrypoint: ['docker-entrypoint.sh'],
    Cmd: ['postgres'],
    ExposedPorts: { '5432/tcp': {} },
    Volumes: { '/var/lib/postgresql/data': {} },
    StopSignal: 'SIGINT',
  },
};
