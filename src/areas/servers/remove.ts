/**
 * Takes a server out of Slipway: what we put on it goes first, then what we know of it. Told to leave the server
 * alone, or where it is gone for good, only the second.
 */
import { removeProxy } from '../../adapters/proxy/proxy.ts';
import { Fault } from '../../fault.ts';
import type { AccountId, OperationId, ServerId, WorkspaceId } from '../../ids.ts';
import { defineOperation, type OperationKind } from '../../operations/definition.ts';
import { enqueueOperation } from '../../operations/operations.ts';
import * as queries from './queries.ts';
import { connectTo, notFound, type ServersContext, tellServer } from './servers.ts';

const removeKind = 'server_remove';
const minute = 60_000;

/** Forgets it at once; the server itself is not touched. */
export async function forgetServer(
  ctx: ServersContext,
  workspaceId: WorkspaceId,
  id: ServerId,
): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    if ((await queries.deleteServer(tx, workspaceId, id)) === 0) throw notFound();
    await tellServer(tx, workspaceId, id, 'removed');
  });
  ctx.pool.drop(id);
}

export async function startRemoval(
  ctx: ServersContext,
  workspaceId: WorkspaceId,
  id: ServerId,
  requestedBy: AccountId,
): Promise<OperationId> {
  return ctx.db.transaction(async (tx) => {
    if (!(await queries.lockServer(tx, workspaceId, id))) throw notFound();
    if (await queries.hasActiveOperation(tx, id, removeKind)) {
      throw new Fault('server_busy', 'The server is being removed already.');
    }
    return enqueueOperation(tx, ctx.queue, {
      ...{ workspaceId, kind: removeKind, input: { serverId: id }, serverId: id, requestedBy },
      subject: { type: 'server', id },
    });
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
          const { remote, username } = await connectTo(ctx, context.workspaceId, serverId);
          await removeProxy(remote);
          await remote.script(clear, [username, `slipway-${serverId}`], { signal: context.signal });
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

/** Only what carries our label or our name; our own key goes last, since it is what lets us in. */
const clear = `
user=$1 comment=$2
if command -v docker > /dev/null; then
  for id in $(docker ps --all --quiet --filter label=slipway); do docker rm --force "$id" > /dev/null; done
  for id in $(docker network ls --quiet --filter label=slipway); do docker network rm "$id" > /dev/null; done
fi
for unit in $(systemctl list-units --all --plain --no-legend 'slipway-????????-*' | cut -d ' ' -f 1); do
  systemctl stop "$unit" 2> /dev/null || true
done
rm -rf /var/lib/slipway
rm -f "/etc/sudoers.d/90-$comment"
home=$(getent passwd "$user" | cut -d : -f 6)
keys=$home/.ssh/authorized_keys
if [ -e "$keys" ] && grep -q " $comment\\$" "$keys"; then
  half=$(mktemp "$keys.XXXXXX")
  grep -v " $comment\\$" "$keys" > "$half" || true
  chown --reference="$keys" "$half"
  chmod --reference="$keys" "$half"
  mv -T "$half" "$keys"
fi
`;
