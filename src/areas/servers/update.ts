/** Changes to a server, the acceptance of a new host key among them. */
import { isIP } from 'node:net';
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
  if (patch.host !== undefined) await requireAllowedHost(ctx, patch.host);
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

/** A name may get its address later: the connections are checked. One that has an address has to have one that is allowed. */
export async function requireAllowedHost({ resolveHost }: ServersContext, host: string): Promise<void> {
  requireHost(host);
  try {
    await resolveHost(host);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'name_not_resolved') throw error;
  }
}

const label = '[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const hostName = new RegExp(`^(${label}\\.)*${label}\\.?$`);

/** A name that ends in a number is an address that was written wrong, or in a way that only some programs read. */
export function requireHost(host: string): void {
  const endsInNumber = /(^|\.)(\d+|0[xX][0-9A-Fa-f]*)\.?$/.test(host);
  if (isIP(host) !== 0 || (hostName.test(host) && !endsInNumber)) return;
  const message = 'must be a name such as web-1.example.com, or an IP address such as 203.0.113.10';
  throw new Fault('invalid_input', 'The host is neither a name nor an address.', {
    errors: [{ path: 'host', message }],
  });
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
    hint: 'Choose another name, or go on with the one that is there: GET /servers lists it.',
    errors: [{ path: 'name', message }],
  });
}
