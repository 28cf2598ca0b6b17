/** Changes to a server, the acceptance of a new host key among them. */
import { Fault } from '../../fault.ts';
import type { ServerId, WorkspaceId } from '../../ids.ts';
import * as queries from './queries.ts';
import { readServer } from './read-server.ts';
import { publishServerUpdate, type ServersContext, serverNotFound } from './servers.ts';

export interface ServerPatch {
  readonly name?: string;
  readonly host?: string;
  readonly port?: number;
  readonly username?: string;
  readonly acceptHostKey?: string;
}

export async function updateServer(
  ctx: ServersContext,
  workspaceId: WorkspaceId,
  id: ServerId,
  patch: ServerPatch,
) {
  const now = ctx.clock.now();
  const answer = await ctx.db.transaction(async (tx) => {
    if (!(await queries.lockServer(tx, { workspaceId, id }))) throw serverNotFound();
    const row = await queries.findServer(tx, { workspaceId, id });
    if (!row) throw serverNotFound();
    requireOfferedKey(row.offeredHostKey, patch.acceptHostKey);
    const { name = row.name, host = row.host, port = row.port, username = row.username } = patch;
    if (name !== row.name && (await queries.isServerNameTaken(tx, workspaceId, name, id)))
      throw serverNameTaken(name);
    const hasNewAddress = host !== row.host || port !== row.port;
    // Another address is another machine until it shows the same key: the pin stays.
    const change = { name, host, port, username, hostKey: patch.acceptHostKey ?? row.hostKey };
    const isNewConnection = hasNewAddress || username !== row.username || patch.acceptHostKey !== undefined;
    await queries.updateServerRow(tx, { workspaceId, id }, change, isNewConnection, now);
    const shown = await readServer(tx, workspaceId, id);
    await publishServerUpdate(tx, workspaceId, id, patch.acceptHostKey ? 'host_key_accepted' : 'changed');
    return shown;
  });
  ctx.pool.drop(id);
  return answer;
}

/** Only the key that the person compared is accepted, not whatever the server shows by now. */
function requireOfferedKey(offered: string | null, accepted: string | undefined): void {
  if (accepted === undefined || offered === null || accepted === offered) return;
  throw new Fault('host_key_mismatch', 'The server shows another host key than the one you accept.', {
    hint: 'Compare the fingerprint with the one on the server’s own console.',
    evidence: `accepted ${accepted}, offered ${offered}`,
  });
}

export function serverNameTaken(name: string): Fault {
  const message = 'is the name of another server of this workspace';
  return new Fault('name_taken', `A server named «${name}» exists already.`, {
    errors: [{ path: 'name', message }],
  });
}
