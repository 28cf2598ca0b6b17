/** The folder of PostgreSQL's socket. The kernel takes paths of at most 107 bytes; a deep clone has longer ones. */
import { createHash } from 'node:crypto';
import { chownSync, lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorCode, Fault } from '../../fault.ts';
import type { PostgresUser } from './postgres-user.ts';

const maxPathBytes = 107;

export function socketFolder(postgresDir: string, user: PostgresUser): string {
  if (Buffer.byteLength(join(postgresDir, '.s.PGSQL.5432.lock')) <= maxPathBytes) return postgresDir;
  const name = createHash('sha256').update(postgresDir).digest('hex').slice(0, 16);
  const folder = join(tmpdir(), `slipway-${name}`);
  try {
    mkdirSync(folder, { mode: 0o700 });
    chownSync(folder, user.uid, user.gid);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
  const found = lstatSync(folder);
  if (found.isDirectory() && found.uid === user.uid && (found.mode & 0o077) === 0) return folder;
  throw new Fault('embedded_database_failed', `${folder} exists and is not ours. Remove it.`);
}
