/** The credentials of services: made once, at first need, and sealed. The data of a service knows no others. */
import { randomBytes } from 'node:crypto';
import type { EnvironmentId, ServiceId, WorkspaceId } from '../../ids.ts';
import { Secret } from '../../secret.ts';
import type { Queryable } from '../../store/database.ts';
import type { Sealer } from '../../store/sealed.ts';
import type { Credentials } from './kinds/kind.ts';
import * as queries from './queries.ts';
import { credentialsPlace } from './services.ts';

export interface OpenService extends queries.ServiceRow {
  readonly credentials: Credentials;
}

/** Those that are wanted, in the order of their making. In a transaction: two who need the first ones wait here. */
export async function openServices(
  tx: Queryable,
  sealer: Sealer,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
): Promise<OpenService[]> {
  let rows = wanted(await queries.listServices(tx, workspaceId, [environmentId]));
  if (rows.some(({ credentialsSealed }) => credentialsSealed === null))
    rows = wanted(await queries.lockServices(tx, workspaceId, environmentId));
  const opened: OpenService[] = [];
  for (const row of rows) {
    if (row.credentialsSealed !== null) opened.push(await openService(tx, sealer, workspaceId, row));
    else opened.push({ ...row, credentials: await make(tx, sealer, workspaceId, row.id) });
  }
  return opened;
}

function wanted(rows: readonly queries.ServiceRow[]): queries.ServiceRow[] {
  return rows.filter(({ removedAt }) => removedAt === null);
}

/** Without a character that a URL, a shell or a settings file would read as something else. */
function newPassword(): string {
  return randomBytes(24).toString('base64url');
}

async function make(
  tx: Queryable,
  sealer: Sealer,
  workspaceId: WorkspaceId,
  id: ServiceId,
): Promise<Credentials> {
  const [password, adminPassword] = [newPassword(), newPassword()];
  const text = new Secret(JSON.stringify({ password, adminPassword }));
  await queries.setCredentials(
    tx,
    workspaceId,
    id,
    await sealer.seal(tx, credentialsPlace(workspaceId, id), text),
  );
  return { password: new Secret(password), adminPassword: new Secret(adminPassword) };
}

export async function openService(
  db: Queryable,
  sealer: Sealer,
  workspaceId: WorkspaceId,
  row: queries.ServiceRow,
): Promise<OpenService> {
  if (row.credentialsSealed === null) throw new Error('a service without credentials was opened');
  const text = await sealer.open(db, credentialsPlace(workspaceId, row.id), row.credentialsSealed);
  const { password, adminPassword } = Object(JSON.parse(text.reveal()));
  if (typeof password !== 'string' || typeof adminPassword !== 'string')
    throw new Error('the credentials of a service are not what was sealed');
  return {
    ...row,
    credentials: { password: new Secret(password), adminPassword: new Secret(adminPassword) },
  };
}
