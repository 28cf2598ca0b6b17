/**
 * What a machine must have to run the lab: Linux, root, Debian or Ubuntu, and a few of their packages. The packages
 * are installed when they are missing; none of them starts anything by itself.
 */
import { existsSync, readFileSync } from 'node:fs';
import { attempt, run } from './command.ts';

const packages: Record<string, string> = {
  debootstrap: '/usr/sbin/debootstrap',
  eatmydata: '/usr/bin/eatmydata',
  'systemd-container': '/usr/bin/systemd-nspawn',
  slirp4netns: '/usr/bin/slirp4netns',
  iptables: '/usr/sbin/iptables',
  iproute2: '/usr/sbin/ip',
  attr: '/usr/bin/getfattr',
  git: '/usr/bin/git',
  openssl: '/usr/bin/openssl',
  'openssh-client': '/usr/bin/ssh',
  // What the README's examples call.
  curl: '/usr/bin/curl',
  jq: '/usr/bin/jq',
  // What `slipway connect` opens.
  'postgresql-client': '/usr/bin/psql',
  'debian-archive-keyring': '/usr/share/keyrings/debian-archive-keyring.gpg',
};

/** Why the lab cannot run on this machine, in one sentence; undefined where it can. */
export function whyNot(): string | undefined {
  if (process.platform !== 'linux') {
    return `the lab boots Linux servers with systemd-nspawn, and this is ${process.platform}`;
  }
  if (process.getuid?.() !== 0) {
    return 'the lab makes network namespaces and boots servers, so it has to be started as root (sudo npm run lab -- up)';
  }
  const release = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '';
  const family = [...release.matchAll(/^ID(?:_LIKE)?="?([^"\n]*)"?$/gm)].map((found) => found[1]).join(' ');
  if (!/\b(debian|ubuntu)\b/.test(family)) {
    return 'the lab is built from Debian packages, and needs Debian or Ubuntu';
  }
  const missing = missingCapability();
  if (missing) return missing;
  return undefined;
}

/** Root inside a container often lacks what booting a server needs. */
function missingCapability(): string | undefined {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  const held = BigInt(`0x${effective}`);
  const names = { net_admin: 12n, sys_admin: 21n };
  const lacking = Object.entries(names).filter(([, bit]) => (held & (1n << bit)) === 0n);
  if (lacking.length === 0) return undefined;
  return `root here lacks the capabilities ${lacking.map(([name]) => name).join(' and ')}, as inside a container`;
}

export const chromiumPath = '/usr/bin/chromium';

/** Why no browser can be tested with on this machine, in one sentence; undefined where one is, or can be installed. */
export function whyNoBrowser(): string | undefined {
  if (existsSync(chromiumPath)) return undefined;
  const why = whyNot();
  return why && `there is no ${chromiumPath}, and it is installed only where the lab runs: ${why}`;
}

export async function installBrowser(): Promise<void> {
  if (!existsSync(chromiumPath)) await installPackages(['chromium', 'fonts-inter']);
}

export function missingPackages(): string[] {
  return Object.entries(packages)
    .filter(([, file]) => !existsSync(file))
    .map(([name]) => name);
}

export async function installPackages(names: readonly string[]): Promise<void> {
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  const install = ['install', '--yes', '--quiet', '--no-install-recommends', ...names];
  // Package lists of a fresh machine are empty or old; only then they are worth their seconds.
  if ((await attempt('apt-get', install, { env })).code === 0) return;
  await run('apt-get', ['update', '--quiet'], { env });
  await run('apt-get', install, { env });
}
