/**
 * Takes a server out of Slipway: what we put on it goes first, then what we know of it. Told to leave the server
 * alone, or where it is gone for good, only the second.
 */

import { removeProxy } from '../../adapters/proxy/proxy.ts';
import { minute } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import type { AccountId, OperationId, ServerId, WorkspaceId } from '../../ids.ts';
import { defineOperation, type OperationKind } from '../../operations/definition.ts';
import type { Queryable } from '../../store/database.ts';
import * as queries from './queries.ts';
import { connectTo, notFound, publishServerUpdate, type ServersContext } from './servers.ts';
import { enqueueOnServer, removeKind } from './start-operation.ts';

/** Forgets it at once; the server itself is not touched. */
export async function forgetServer(
  ctx: ServersContext,
  workspaceId: WorkspaceId,
  id: ServerId,
): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    await refuseInUse(tx, ctx, workspaceId, id);
    if ((await queries.deleteServer(tx, workspaceId, id)) === 0) throw notFound();
    await publishServerUpdate(tx, workspaceId, id, 'removed');
  });
  ctx.pool.drop(id);
}

export async function startRemoval(
  ctx: ServersContext,
  workspaceId: WorkspaceId,
  id: ServerId,
  requestedBy: AccountId,
): Promise<OperationId> {
  const work = { workspaceId, serverId: id, kind: removeKind, input: { serverId: id }, requestedBy } as const;
  return ctx.db.transaction(async (tx) => {
    const operationId = await enqueueOnServer(tx, ctx, work);
    await refuseInUse(tx, ctx, workspaceId, id);
    return operationId;
  });
}

/** Under the server's lock, so that nothing is put on it meanwhile. */
async function refuseInUse(
  tx: Queryable,
  ctx: ServersContext,
  workspaceId: WorkspaceId,
  id: ServerId,
): Promise<void> {
  await queries.lockServer(tx, workspaceId, id);
  const users = await ctx.environmentsOn(tx, workspaceId, id);
  if (users.length === 0) return;
  throw new Fault('in_use', 'Environments are on this server.', {
    hint: 'Move them to another server, or delete them.',
    errors: users.map((each) => ({
      path: `environments/${each.id}`,
      message: `${each.project}: ${each.name}`,
    })),
  });
}

export function removeOperation(ctx: ServersContext): OperationKind {
  return defineOperation({
    kind: removeKind,
    readInput: (stored) => ({ serverId: String(Object(stored).serverId) as ServerId }),
    steps: [
      {
        name: 'clear',
        deadlineMs: 5 * minute,
        undo: { none: 'What was removed can be put back by provisioning the server again.' },
        run: async ({ serverId }, context) => {
          const { remote } = await connectTo(ctx, context.workspaceId, serverId);
          await remote.fence(context.operationId, context.epoch);
          await removeProxy(remote);
          await remote.script(clear, [], { signal: context.signal });
          return undefined;
        },
      },
      {
        name: 'way_in',
        deadlineMs: 5 * minute,
        // A connection that broke under it leaves open whether it was done; the next look says so.
        retry: { attempts: 4, firstMs: 2_000, maxMs: 20_000, when: (error) => error instanceof Fault },
        undo: { none: 'Our key can be put back by registering the server again.' },
        run: async ({ serverId }, context) => {
          const { remote, username } = await connectTo(ctx, context.workspaceId, serverId);
          const taking = remote.script(closeWayIn, [username, `slipway-${serverId}`], {
            signal: context.signal,
          });
          await taking.catch((error: unknown) => {
            // A run that was killed after its work has left us outside, which is what was wanted.
            if (!(error instanceof Fault) || !['login_refused', 'sudo_refused'].includes(error.code))
              throw error;
            context.log('The server does not let us in any more.');
          });
          return undefined;
        },
      },
      {
        name: 'forget',
        deadlineMs: minute,
        undo: { none: 'It is the last step.' },
        run: async ({ serverId }, context) => {
          await forgetServer(ctx, context.workspaceId, serverId).catch((error: unknown) => {
            // A second run finds it gone, which is what was wanted.
            if (!(error instanceof Fault) || error.code !== 'not_found') throw error;
          });
          return undefined;
        },
      },
    ],
  });
}

/**
 * Only what carries our label or our name. A step of hardening that nobody has proven is taken back first: what would
 * do that later lies in the folder that goes. Hardening that stands, stays.
 */
const clear = `
if [ -e /var/lib/slipway/hardening/armed ]; then sh /var/lib/slipway/hardening/deadman.sh; fi
if command -v docker > /dev/null; then
  for id in $(docker ps --all --quiet --filter label=slipway); do docker rm --force "$id" > /dev/null; done
  for id in $(docker network ls --quiet --filter label=slipway); do docker network rm "$id" > /dev/null; done
fi
for unit in $(systemctl list-units --all --plain --no-legend 'slipway-????????-*' | cut -d ' ' -f 1); do
  systemctl stop "$unit" 2> /dev/null || true
done
rm -rf /var/lib/slipway
`;

/** To its end, whatever becomes of the connection: half of it could not be gone on with, as nobody gets in. */
const closeWayIn = `
trap '' HUP INT TERM PIPE
user=$1 comment=$2
home=$(getent passwd "$user" | cut -d : -f 6)
keys=$home/.ssh/authorized_keys
if [ -e "$keys" ] && grep -q " $comment\\$" "$keys"; then
  half=$(mktemp "$keys.XXXXXX")
  grep -v " $comment\\$" "$keys" > "$half" || true
  chown --reference="$keys" "$half"
  chmod --reference="$keys" "$half"
  mv -T "$half" "$keys"
fi
rm -f "/etc/sudoers.d/90-$comment"
`;
