/** The kinds of server that the lab can boot, and the trees they are made of. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { debianTree, layer, type Suite, type Tree } from '../build/trees.ts';

export interface Variant {
  readonly suite: Suite;
  readonly docker: boolean;
  /** Who logs in, and how. */
  readonly login: 'root-by-key' | 'sudo-by-password';
  /** Booted from a copy of a server that Slipway has made ready. */
  readonly isProvisioned?: boolean;
  readonly about: string;
}

export const variants = {
  docker: {
    suite: 'trixie',
    docker: true,
    login: 'root-by-key',
    about: 'Debian 13 with Docker; root logs in with a key',
  },
  bare: {
    suite: 'trixie',
    docker: false,
    login: 'root-by-key',
    about: 'Debian 13 as a provider hands it out, without Docker',
  },
  sudo: {
    suite: 'trixie',
    docker: false,
    login: 'sudo-by-password',
    about: 'Debian 13 without Docker; `deploy` logs in with a password and may use sudo, root may not log in',
  },
  provisioned: {
    suite: 'trixie',
    docker: true,
    login: 'root-by-key',
    isProvisioned: true,
    about: 'as `docker`, made ready by Slipway once: its proxy runs, and the images that most need are there',
  },
  bookworm: {
    suite: 'bookworm',
    docker: true,
    login: 'root-by-key',
    about: 'Debian 12 with its Docker 20.10',
  },
} as const satisfies Record<string, Variant>;

export type VariantName = keyof typeof variants;

export function isVariant(name: string): name is VariantName {
  return Object.hasOwn(variants, name);
}

export const sudoUser = 'deploy';

const rootfs = join(dirname(fileURLToPath(import.meta.url)), 'rootfs');

const common = [
  ...['systemd', 'systemd-sysv', 'libpam-systemd', 'dbus', 'openssh-server', 'sudo'],
  ...['iproute2', 'iputils-ping', 'procps', 'curl', 'ca-certificates', 'kmod', 'less', 'python3-minimal'],
];

// Every server gets host keys and a machine id of its own when it is made.
const commonSetup = `
systemctl enable systemd-networkd.service ssh.service lab-cgroups.service
systemctl mask systemd-networkd-wait-online.service systemd-firstboot.service getty.target console-getty.service
rm -f /etc/ssh/ssh_host_* /var/lib/dbus/machine-id
: > /etc/machine-id
`;

// nftables is on every Debian that a provider hands out; the small tree that servers are made of lacks it.
const dockerPackages: Record<Suite, readonly string[]> = {
  trixie: ['docker.io', 'docker-cli', 'docker-buildx', 'docker-compose', 'iptables', 'nftables'],
  bookworm: ['docker.io', 'iptables', 'nftables'],
};

const sudoSetup = `
useradd --create-home --shell /bin/bash ${sudoUser}
usermod --append --groups sudo ${sudoUser}
printf 'PermitRootLogin no\\nPasswordAuthentication yes\\n' > /etc/ssh/sshd_config.d/10-lab.conf
`;

export async function serverTree(name: VariantName): Promise<Tree> {
  const { suite, docker, login }: Variant = variants[name];
  const debian = await debianTree(suite);
  const plain = await layer({
    name: `server-${suite}`,
    below: debian,
    packages: common,
    files: rootfs,
    setup: commonSetup,
  });
  const below = docker
    ? await layer({ name: `docker-${suite}`, below: plain, packages: dockerPackages[suite] })
    : plain;
  if (login === 'root-by-key') return below;
  return layer({ name: `sudo-${suite}`, below, packages: [], setup: sudoSetup });
}
