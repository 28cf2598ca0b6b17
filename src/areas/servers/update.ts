/** Changes to a server, the acceptance of a new host key among them. */
import { Fault } from '../../fault.ts';
import type { ServerId, WorkspaceId } from '../../ids.ts';
import * as queries from './queries.ts';
import { readServer } from './read-server.ts';
import { notFound, publishServerUpdate, type ServersContext } from './servers.ts';

export interface ServerWish {
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
  wish: ServerWish,
) {
  const now = ctx.clock.now();
  const answer = await ctx.db.transaction(async (tx) => {
    if (!(await queries.lockServer(tx, workspaceId, id))) throw notFound();
    const row = await queries.findServer(tx, workspaceId, id);
    if (!row) throw notFound();
    refuseOtherKey(row.offeredHostKey, wish.acceptHostKey);
    const { name = row.name, host = row.host, port = row.port, username = row.username } = wish;
    if (name !== row.name && (await queries.isNameTaken(tx, workspaceId, name, id))) throw nameTaken(name);
    const isElsewhere = host !== row.host || port !== row.port;
    // Another address is another machine until it shows the same key: the pin stays.
    const change = { name, host, port, username, hostKey: wish.acceptHostKey ?? row.hostKey };
    const isOtherWay = isElsewhere || username !== row.username || wish.acceptHostKey !== undefined;
    await queries.updateServer(tx, workspaceId, id, change, isOtherWay, now);
    const shown = await readServer(tx, workspaceId, id);
    await publishServerUpdate(tx, workspaceId, id, wish.acceptHostKey ? 'host_key_accepted' : 'changed');
    return shown;
  });
  ctx.pool.drop(id);
  return answer;
}

/** What a person compared is what is accepted, not whatever the server shows by now. */
function refuseOtherKey(offered: string | null, accepted: string | undefined): void {
  if (accepted === undefined || offered === null || accepted === offered) return;
  throw new Fault('host_key_mismatch', 'The server shows another host key than the one you accept.', {
    hint: 'Compare the fingerprint with the one on the server’s own console.',
    evidence: `accepted ${accepted}, offered ${offered}`,
  });
}

export function nameTaken(name: string): Fault {
  const message = 'is the name of another server of this workspace';
  return new Fault('name_taken', `There is a server named «${name}» already.`, {
    errors: [{ path: 'name', message }],
  });
}
