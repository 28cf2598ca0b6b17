/**
 * The folder of the embedded PostgreSQL: its password, its first preparation, and the refusal of one that
 * another major version made.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Fault } from '../../fault.ts';
import type { DataFolder } from '../data-folder.ts';
import { fsyncFolder, readFileIfExists, writeFileAtomic } from '../files.ts';
import { chownFolder, type PostgresUser } from './postgres-user.ts';

const majorVersion = '18';

/** The role that owns everything in the embedded database. */
export const role = 'slipway';

export function readOrCreatePassword(file: string): string {
  const kept = readFileIfExists(file);
  if (kept) return kept;
  const created = randomBytes(24).toString('base64url');
  writeFileAtomic(file, created, 0o600);
  return created;
}

/** In a temporary folder that is then renamed, so that a kill leaves no half of one. */
export function initialiseFolder(
  folder: DataFolder,
  initdb: string,
  user: PostgresUser,
  password: string,
): void {
  const target = folder.postgresDir;
  const drafts = `${basename(target)}.init-`;
  for (const left of readdirSync(folder.path)) {
    if (left.startsWith(drafts)) rmSync(join(folder.path, left), { recursive: true, force: true });
  }
  if (readFileIfExists(join(target, 'PG_VERSION'))) return;
  const draft = join(folder.path, `${drafts}${randomBytes(4).toString('hex')}`);
  mkdirSync(draft, { mode: 0o700 });
  chownFolder(draft, user);
  const passwordFile = `${draft}.password`;
  writeFileSync(passwordFile, password, { mode: 0o600 });
  chownSync(passwordFile, user.uid, user.gid);
  const options = ['--username', role, `--pwfile=${passwordFile}`, '--auth=scram-sha-256', '--encoding=UTF8'];
  const [command, args] = user.wrap(initdb, ['-D', draft, ...options, '--locale=C']);
  const result = spawnSync(command, args, { encoding: 'utf8', cwd: '/' });
  rmSync(passwordFile);
  if (result.status !== 0) {
    throw new Fault('embedded_database_failed', 'The embedded PostgreSQL could not prepare its folder.', {
      evidence: `${result.error ?? ''}${result.stdout ?? ''}${result.stderr ?? ''}`.trim(),
    });
  }
  renameSync(draft, target);
  fsyncFolder(dirname(target));
}

export function requireMajorVersion(postgresDir: string): void {
  const found = readFileIfExists(join(postgresDir, 'PG_VERSION'))?.trim();
  if (found === majorVersion) return;
  const message = `The data folder holds a PostgreSQL ${found} database, this Slipway runs PostgreSQL ${majorVersion}.`;
  throw new Fault('database_newer', `${message} Use the Slipway that made it.`);
}
