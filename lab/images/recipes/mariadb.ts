/**
 * MariaDB 11.8: the server and its clients without Debian's service packaging, which would bind to loopback and
 * create a database at build time. Replication, hashed passwords and automatic upgrades of the official entrypoint
 * are left out.
 */
import type { ImageRecipe } from './recipe.ts';
import { plainPath } from './recipe.ts';

// Each of the programs removed is 5 MB, and none of them is of use here.
const setup = `
groupadd --system --gid 999 mysql
useradd --system --uid 999 --gid mysql --home-dir /var/lib/mysql --no-create-home mysql
mkdir -p /docker-entrypoint-initdb.d /var/lib/mysql /run/mysqld
rm -rf /var/lib/mysql/*
chown mysql:mysql /var/lib/mysql /run/mysqld
chmod 1777 /run/mysqld
mv /usr/local/share/lab/00-lab.cnf /etc/mysql/conf.d/00-lab.cnf
cd /usr/bin
rm -f replace resolve_stack_dump mariadb-conv mariadb-plugin mariadb-slap mariadb-waitpid
rm -rf /usr/local/share/lab /etc/mysql/mariadb.conf.d/60-galera.cnf /var/lib/apt/lists/* /var/log/*
`;

export const mariadb: ImageRecipe = {
  name: 'mariadb',
  tags: ['11.8', '11', 'lts', 'latest'],
  parent: 'debian:trixie-slim',
  packages: ['mariadb-client', 'mariadb-server-core', 'tzdata'],
  rootfs: 'mariadb',
  setup,
  config: {
    Env: [plainPath, 'LANG=C.UTF-8'],
    Entrypoint: ['docker-entrypoint.sh'],
    Cmd: ['mariadbd'],
    ExposedPorts: { '3306/tcp': {} },
    Volumes: { '/var/lib/mysql': {} },
  },
};
