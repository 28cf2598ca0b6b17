/** A login that cannot be mistaken for an old one: a new connection, our key, root at its end. */
import { Fault } from '../../../fault.ts';
import type { ServerId, WorkspaceId } from '../../../ids.ts';
import { runOver } from '../../../remote/exec/run-over.ts';
import { connectWith } from '../../../remote/ssh/connect.ts';
import { type ServersContext, serverNotFound } from '../servers.ts';
import { readTarget } from './connect-server.ts';
import { requireSudo } from './enrol.ts';

/** The address that the server sees us come from. */
export async function verifyLogin(
  ctx: ServersContext,
  workspaceId: WorkspaceId,
  id: ServerId,
): Promise<string> {
  const { host, port, username, privateKey, hostKey } = await readTarget(ctx, workspaceId, id);
  if (hostKey === null) throw serverNotFound();
  const connection = await connectWith({
    host,
    port,
    resolve: ctx.resolveHost,
    username,
    auth: { privateKey },
    expectedHostKey: hostKey,
  });
  try {
    if (username !== 'root') await requireSudo(connection);
    const { stdout } = await runOver(connection, ['printenv', 'SSH_CONNECTION']);
    const [address = ''] = stdout.toString('latin1').split(' ');
    if (address !== '') return address;
    throw new Fault('remote_failed', 'The server does not report the address it sees us come from.');
  } finally {
    await connection.close();
  }
}
