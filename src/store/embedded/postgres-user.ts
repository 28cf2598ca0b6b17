/**
 * Who PostgreSQL runs as. It refuses to be root, so where we are root:
 * - it runs as the owner of its folder, for a new folder `nobody`, if that user can reach folder and program;
 * - else (a clone in root's home, say) it runs in a user namespace of its own, where root's id is shown as
 *   nobody's and carries none of root's capabilities.
 * Either way the kernel makes it shut down in order when we die (`--pdeathsig`).
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorCode, Fault } from '../../fault.ts';

const nobody = 65_534;

export interface PostgresUser {
  readonly uid: number;
  readonly gid: number;
  /** The program and its arguments, wrapped so that it runs as this user. */
  wrap(program: string, args: readonly string[]): readonly [string, readonly string[]];
}

export function choosePostgresUser(postgresDir: string, program: string): PostgresUser {
  const uid = process.getuid?.() ?? nobody;
  const gid = process.getgid?.() ?? nobody;
  if (uid !== 0) return { uid, gid, wrap: (to, args) => ['setpriv', ['--pdeathsig=INT', '--', to, ...args]] };

  const owner = ownerOf(postgresDir) ?? { uid: nobody, gid: nobody };
  if (owner.uid !== 0 && isReachable(dirname(postgresDir), program)) return otherUser(owner.uid, owner.gid);
  return rootInNamespace();
}

function otherUser(uid: number, gid: number): PostgresUser {
  const become = [
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    '--no-new-privs',
    '--pdeathsig=INT',
    '--',
  ];
  return { uid, gid, wrap: (to, args) => ['setpriv', [...become, to, ...args]] };
}

function rootInNamespace(): PostgresUser {
  const enter = ['--user', `--map-user=${nobody}`, `--map-group=${nobody}`, 'setpriv', '--no-new-privs'];
  const wrap: PostgresUser['wrap'] = (to, args) => [
    'unshare',
    [...enter, '--pdeathsig=INT', '--', to, ...args],
  ];
  const [command, args] = wrap('true', []);
  const probe = spawnSync(command, args, { encoding: 'utf8' });
  if (probe.status === 0) return { uid: 0, gid: 0, wrap };
  throw new Fault(
    'embedded_database_failed',
    'The embedded PostgreSQL cannot run as root here: no other user may enter the data folder, and this system allows no user namespaces. Move the data folder with SLIPWAY_DATA_DIR, run Slipway as an ordinary user, or set SLIPWAY_DATABASE_URL.',
    { evidence: probe.stderr ?? String(probe.error) },
  );
}

/** Makes the user the owner, with access for nobody else. A no-op where it is so already. */
export function chownFolder(folder: string, user: PostgresUser): void {
  const owner = ownerOf(folder);
  if (owner?.uid === user.uid && owner.gid === user.gid) return;
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, entry);
    if (!lstatSync(path).isSymbolicLink()) chownSync(path, user.uid, user.gid);
  }
  chownSync(folder, user.uid, user.gid);
  chmodSync(folder, 0o700);
}

/** Lets the user pass through the folder above its own, without listing or reading what lies there. */
export function allowTraversal(folder: string, user: PostgresUser): void {
  if (process.getuid?.() === 0 && user.uid !== 0) chmodSync(folder, 0o711);
}

function ownerOf(path: string): { uid: number; gid: number } | undefined {
  try {
    const { uid, gid } = statSync(path);
    return { uid, gid };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function isReachable(dataDir: string, program: string): boolean {
  return (
    othersMayPass(dirname(realpathSync(dataDir))) &&
    othersMayPass(dirname(program)) &&
    (statSync(program).mode & 0o005) === 0o005
  );
}

function othersMayPass(folder: string): boolean {
  if ((statSync(folder).mode & 0o001) === 0) return false;
  return folder === dirname(folder) || othersMayPass(dirname(folder));
}
