/** A login that nobody could mistake for an old one: a new connection, our key, root at its end. */

import { Fault } from '../../../fault.ts';
import type { ServerId, WorkspaceId } from '../../../ids.ts';
import { runOver } from '../../../remote/exec/run-over.ts';
import { connectWith } from '../../../remote/ssh/connect.ts';
import * as queries from '../queries.ts';
import { keyPlace, notFound, type ServersContext } from '../servers.ts';
import { requireSudo } from './enrol.ts';

/** The address that the server sees us come from. */
export async function proveLogin(
  ctx: ServersContext,
  workspaceId: WorkspaceId,
  id: ServerId,
): Promise<string> {
  const row = await queries.findTarget(ctx.db, workspaceId, id);
  if (!row || row.hostKey === null) throw notFound();
  const { host, port, username, hostKey: expectedHostKey } = row;
  const privateKey = await ctx.sealer.open(ctx.db, keyPlace(workspaceId, id), row.privateKeySealed);
  const connection = await connectWith({ host, port, username, auth: { privateKey }, expectedHostKey });
  try {
    if (username !== 'root') await requireSudo(connection);
    const { stdout } = await runOver(connection, ['printenv', 'SSH_CONNECTION']);
    const [address = ''] = stdout.toString('latin1').split(' ');
    if (address !== '') return address;
    throw new Fault('remote_failed', 'The server does not say where it sees us come from.');
  } finally {
    await connection.close();
  }
}
