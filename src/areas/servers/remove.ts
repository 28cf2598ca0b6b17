/**
 * Removes a server from Slipway: first what we put on it, then its record. On request, or where the server is gone for
 * good, only the record.
 */

import { minute } from '../../clock.ts';
import { removeNetworkRules, removeProxy } from '../../engine/single-server/single-server.ts';
import { type ApiFaultCode, Fault } from '../../fault.ts';
import type { AccountId, ClusterId, OperationId, ServerId, WorkspaceId } from '../../ids.ts';
import { defineOperation, type OperationKind } from '../../operations/definition.ts';
import type { Queryable } from '../../store/database.ts';
import { connectTo } from './connection/connect-server.ts';
import * as queries from './queries.ts';
import { publishServerUpdate, type ServersContext, serverNotFound } from './servers.ts';
import { enqueueOnServer, removeServerKind } from './start-operation.ts';

/** At once; the server itself is not touched. */
export async function removeServerRecord(
  ctx: ServersContext,
  workspaceId: WorkspaceId,
  id: ServerId,
): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    await requireUnused(tx, ctx, workspaceId, id);
    if ((await queries.deleteServer(tx, { workspaceId, id })) === 0) throw serverNotFound();
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
  const work = {
    workspaceId,
    serverId: id,
    kind: removeServerKind,
    input: { serverId: id },
    requestedBy,
  } as const;
  return ctx.db.transaction(async (tx) => {
    await requireUnused(tx, ctx, workspaceId, id);
    const server = await queries.findServer(tx, { workspaceId, id });
    if (server && server.hostKey === null) throw neverReached();
    const operationId = await enqueueOnServer(tx, ctx, work);
    return operationId;
  });
}

export function serverInCluster(name: string, clusterId: ClusterId): Fault {
  return new Fault('server_in_cluster', `${name} is a member of a cluster.`, {
    hint: 'Take it out first with DELETE /clusters/:id/servers/:serverId.',
    evidence: `cluster ${clusterId}`,
  });
}

function neverReached(): Fault {
  return new Fault(
    'server_not_ready',
    'This server was never reached, so there is nothing of ours on it to take away.',
    {
      hint: 'Forget it with DELETE /servers/:id?leave=true.',
    },
  );
}

const unreachable: ReadonlySet<string> = new Set<ApiFaultCode>([
  ...(['remote_unreachable', 'remote_timeout', 'port_refused', 'port_filtered'] as const),
  ...(['name_not_resolved', 'login_refused', 'host_key_changed'] as const),
]);

/** One that cannot be reached any more may be gone for good: then nobody can take anything away there. */
function orForget(error: unknown): unknown {
  if (!(error instanceof Fault) || !unreachable.has(error.code)) return error;
  const { code, message, hint, evidence } = error;
  return new Fault(code, message, {
    hint: `${hint ?? ''} If the server is gone for good, forget it with DELETE /servers/:id?leave=true.`.trim(),
    ...(evidence !== undefined && { evidence }),
    cause: error,
  });
}

/** Under the server's lock, so that nothing is put on it meanwhile. */
async function requireUnused(
  tx: Queryable,
  ctx: ServersContext,
  workspaceId: WorkspaceId,
  id: ServerId,
): Promise<void> {
  await queries.lockServer(tx, { workspaceId, id });
  const server = await queries.findServer(tx, { workspaceId, id });
  if (server?.clusterId) throw serverInCluster(server.name, server.clusterId);
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

export function removeServerOperation(ctx: ServersContext): OperationKind {
  return defineOperation({
    kind: removeServerKind,
    readInput: (stored) => ({ serverId: String(Object(stored).serverId) as ServerId }),
    steps: [
      {
        name: 'clear',
        deadlineMs: 5 * minute,
        undo: { none: 'Provision the server again instead.' },
        run: async ({ serverId }, context) => {
          const remote = await remoteUnlessTaken(ctx, context.workspaceId, serverId);
          if (!remote) {
            context.log('Another server is this machine: what is on it is not ours, and stays.');
            return undefined;
          }
          await remote.fence(context.operationId, context.epoch).catch((error: unknown) => {
            throw orForget(error);
          });
          context.log('Taking away the proxy, and the containers, networks and units of Slipway.');
          await removeProxy(remote);
          await remote.script(clearScript, [], { signal: context.signal });
          await removeNetworkRules(remote, context.signal);
          return undefined;
        },
      },
      {
        name: 'way_in',
        deadlineMs: 5 * minute,
        // After a broken connection it is not known whether it was done; the next attempt finds out.
        retry: { attempts: 4, firstMs: 2_000, maxMs: 20_000, when: (error) => error instanceof Fault },
        undo: { none: 'Register the server again instead.' },
        run: async ({ serverId }, context) => {
          const own = { evenIfTaken: true };
          const { remote, username } = await connectTo(ctx, context.workspaceId, serverId, own);
          const removing = remote.script(removeAccessScript, [username, `slipway-${serverId}`], {
            signal: context.signal,
          });
          await removing.catch((error: unknown) => {
            // An attempt that was killed after its work has removed our access, as intended.
            if (!(error instanceof Fault) || !['login_refused', 'sudo_refused'].includes(error.code))
              throw error;
            context.log('Our access to the server is removed already.');
          });
          return undefined;
        },
      },
      {
        name: 'forget',
        deadlineMs: minute,
        undo: { none: 'It is the last step.' },
        run: async ({ serverId }, context) => {
          await removeServerRecord(ctx, context.workspaceId, serverId).catch((error: unknown) => {
            // A second run finds it gone, as intended.
            if (!(error instanceof Fault) || error.code !== 'not_found') throw error;
          });
          return undefined;
        },
      },
    ],
  });
}

async function remoteUnlessTaken(ctx: ServersContext, workspaceId: WorkspaceId, id: ServerId) {
  try {
    return (await connectTo(ctx, workspaceId, id)).remote;
  } catch (error) {
    if (error instanceof Fault && error.code === 'server_taken') return undefined;
    throw error;
  }
}

/**
 * Only what carries our label or our name. An unverified step of hardening is undone first: the script that would do that
 * later is in the folder that is removed. Applied hardening stays.
 */
const clearScript = `
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

/** Runs to its end, whatever becomes of the connection: after half of it nobody could log in to finish it. */
const removeAccessScript = `
trap '' HUP INT TERM PIPE
user=$1 comment=$2
home=$(getent passwd "$user" | cut -d : -f 6)
keys=$home/.ssh/authorized_keys
if [ -e "$keys" ] && grep -q " $comment\\$" "$keys"; then
  draft=$(mktemp "$keys.XXXXXX")
  grep -v " $comment\\$" "$keys" > "$draft" || true
  chown --reference="$keys" "$draft"
  chmod --reference="$keys" "$draft"
  mv -T "$draft" "$keys"
fi
rm -f "/etc/sudoers.d/90-$comment"
`;
