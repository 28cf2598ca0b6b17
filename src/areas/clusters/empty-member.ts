/**
 * A member loses all that runs on it, and no visitor notices: first the proxies give its replicas no new requests and wait for the
 * last ones, then Swarm starts them elsewhere, then the proxies follow them there. May be done again from any point.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { SwarmMember } from '../../engine/swarm/member.ts';
import { pauseNode, setAvailability, waitUntilEmpty } from '../../engine/swarm/nodes.ts';
import { incompleteServices, waitUntilComplete } from '../../engine/swarm/reboot.ts';
import { Fault } from '../../fault.ts';
import type { StepContext } from '../../operations/definition.ts';
import { operationsEnded } from '../../operations/operations.ts';
import type { ClustersContext } from './clusters.ts';
import { putRulesBack } from './members.ts';
import type { MemberRow } from './queries.ts';

export async function emptyMember(
  ctx: ClustersContext,
  context: StepContext,
  manager: SwarmMember,
  { nodeId, name }: { readonly nodeId: string; readonly name: string },
  rows: readonly MemberRow[],
): Promise<void> {
  // One that was away while another joined lets none of its packets in, and what moves there would be out of its reach.
  const putRules = () => putRulesBack(ctx, context.workspaceId, { rows, asked: rows }, context.signal);
  await putRules();
  const broken = await incompleteServices(manager);
  await pauseNode(manager, nodeId);
  context.progress(0, `the proxies leave ${name}`);
  await routeAll(ctx, context, rows, `Nothing was taken off ${name}.`);
  await setAvailability(manager, nodeId, 'drain');
  await waitUntilEmpty(manager, nodeId, (left) => context.progress(0, `${left} tasks on ${name}`));
  const elsewhere = rows.filter((row) => row.nodeId !== nodeId && row.availability === 'active');
  if (elsewhere.length > 0)
    await waitUntilComplete(manager, broken, (missing) =>
      context.progress(0, `not complete elsewhere yet: ${missing.join(', ')}`),
    );
  await putRules();
  await routeAll(ctx, context, rows, `What ran on ${name} runs on the others already.`);
}

/** Every proxy sends requests to where the replicas are now. Each environment in its own turn, after what is at work on it. */
async function routeAll(
  ctx: ClustersContext,
  { workspaceId, signal }: StepContext,
  rows: readonly MemberRow[],
  done: string,
): Promise<void> {
  const found = await Promise.all(
    rows.map(({ serverId }) => ctx.environmentsOn(ctx.db, workspaceId, serverId)),
  );
  const environmentIds = [...new Set(found.flat().map(({ id }) => id))];
  const operationIds = await ctx.db.transaction((tx) =>
    ctx.routeEnvironments(tx, workspaceId, environmentIds),
  );
  for (;;) {
    const { isAll, failed } = await operationsEnded(ctx.db, workspaceId, operationIds);
    if (failed)
      throw new Fault('proxy_down', 'A proxy of the cluster could not be told where replicas are.', {
        hint: `${done} See the operation in the evidence, then begin again.`,
        evidence: `operation ${failed.id}: ${failed.fault?.message ?? failed.state}`,
      });
    if (isAll) return;
    await sleep(200, undefined, { signal });
  }
}
