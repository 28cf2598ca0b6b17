/** What makes a server this one: its name, address, host keys, who may log in, and where its images come from. */
import { randomBytes, randomInt } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { run } from '../command.ts';
import { cacheDir, ports, type Subnet } from '../places.ts';
import { sudoUser } from './variants.ts';

export interface Furniture {
  readonly name: string;
  readonly address: string;
  readonly subnet: Subnet;
  /** The public half of the lab's key; without it nobody logs in by key. */
  readonly authorizedKey: string | undefined;
  /** The password of the sudo user, where the server has one. */
  readonly password: string | undefined;
  /** Host keys of an earlier life to keep. */
  readonly hostKeys: string | undefined;
}

const caBundle = '/etc/ssl/certs/ca-certificates.crt';
const rsaKeys = 8;
const hostKeyKinds = ['ed25519', 'ecdsa', 'rsa'] as const;

export async function furnish(upper: string, tree: readonly string[], about: Furniture): Promise<void> {
  const { name, address, subnet, authorizedKey, password } = about;
  const put = (path: string, text: string, mode = 0o644) => writeInto(upper, path, text, mode);
  put('/etc/hostname', `${name}\n`);
  put('/etc/hosts', `127.0.0.1 localhost\n${address} ${name}\n::1 localhost ip6-localhost\n`);
  put('/etc/resolv.conf', `nameserver ${subnet.host}\n`);
  put('/etc/systemd/network/10-host0.network', networkFile(address, subnet));
  const mirror = `${subnet.host}:${ports.registry}`;
  const settings = readFirst(tree, 'etc/docker/daemon.json') ?? '{}';
  const registry = { 'registry-mirrors': [`http://${mirror}`], 'insecure-registries': [mirror] };
  const daemon = { ...JSON.parse(settings), ...registry };
  put('/etc/docker/daemon.json', `${JSON.stringify(daemon, null, 2)}\n`);
  // Machines behind an inspecting proxy trust its authority; what runs on their servers has to as well.
  if (existsSync(caBundle)) put(caBundle, readFileSync(caBundle, 'utf8'));
  if (authorizedKey) {
    mkdirSync(join(upper, 'root/.ssh'), { recursive: true, mode: 0o700 });
    put('/root/.ssh/authorized_keys', `${authorizedKey}\n`, 0o600);
  }
  if (password) put('/etc/shadow', await shadowWith(tree, password), 0o640);
  await makeHostKeys(join(upper, 'etc/ssh'), name, about.hostKeys);
}

export function newPassword(): string {
  return randomBytes(12).toString('base64url');
}

/** The keys' public lines, as `known_hosts` wants them. */
export function hostKeyLines(upper: string): string[] {
  return hostKeyKinds.map((kind) => {
    const [type, key] = readFileSync(join(upper, `etc/ssh/ssh_host_${kind}_key.pub`), 'utf8').split(' ');
    return `${type} ${key?.trim()}`;
  });
}

async function makeHostKeys(folder: string, name: string, kept: string | undefined): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const kind of hostKeyKinds) {
    const file = `ssh_host_${kind}_key`;
    if (kept) for (const each of [file, `${file}.pub`]) copyFileSync(join(kept, each), join(folder, each));
    // One of these takes seconds of processor time, and there is one for each server of each test.
    else if (kind === 'rsa') await takeRsaKey(join(folder, file));
    else await run('ssh-keygen', ['-q', '-t', kind, '-N', '', '-C', name, '-f', join(folder, file)]);
  }
}

/** One of a few that are kept, by chance: nobody looks at it but who asks for this kind. */
async function takeRsaKey(place: string): Promise<void> {
  const kept = join(cacheDir, 'rsa-keys', `${randomInt(rsaKeys)}`);
  if (!existsSync(kept)) {
    mkdirSync(dirname(kept), { recursive: true, mode: 0o700 });
    const half = `${kept}.${randomBytes(4).toString('hex')}`;
    await run('ssh-keygen', ['-q', '-t', 'rsa', '-N', '', '-C', 'lab', '-f', half]);
    renameSync(`${half}.pub`, `${kept}.pub`);
    renameSync(half, kept);
  }
  for (const end of ['', '.pub']) copyFileSync(`${kept}${end}`, `${place}${end}`);
}

function networkFile(address: string, { gateway, host }: Subnet): string {
  return [
    ...[
      '[Match]',
      'Name=host0',
      '',
      '[Network]',
      `Address=${address}/24`,
      `Gateway=${gateway}`,
      `DNS=${host}`,
    ],
    // A network that is cut and healed must find the server as it was.
    ...['LinkLocalAddressing=no', 'IPv6AcceptRA=no', 'IgnoreCarrierLoss=yes', ''],
  ].join('\n');
}

async function shadowWith(tree: readonly string[], password: string): Promise<string> {
  const before = readFirst(tree, 'etc/shadow');
  if (before === undefined) throw new Error('the server’s tree has no /etc/shadow');
  const hash = (await run('openssl', ['passwd', '-6', '-stdin'], { input: password })).trim();
  return before.replace(new RegExp(`^${sudoUser}:[^:]*:`, 'm'), () => `${sudoUser}:${hash}:`);
}

function readFirst(tree: readonly string[], path: string): string | undefined {
  const file = tree.map((folder) => join(folder, path)).find((each) => existsSync(each));
  return file && readFileSync(file, 'utf8');
}

function writeInto(root: string, path: string, text: string, mode: number): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { mode });
}
