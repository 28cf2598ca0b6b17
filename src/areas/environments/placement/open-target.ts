/** The engine that runs an environment where it is placed, for one step of an operation. */
import { second } from '../../../clock.ts';
import { capacityOf } from '../../../engine/capacity.ts';
import type { Target, TargetView } from '../../../engine/engine.ts';
import type { Placement } from '../../../engine/placement.ts';
import { singleServer } from '../../../engine/single-server/single-server.ts';
import { swarm } from '../../../engine/swarm/swarm.ts';
import type { EnvironmentId, WorkspaceId } from '../../../ids.ts';
import type { StepContext } from '../../../operations/definition.ts';
import type { Remote } from '../../../remote/remote.ts';
import { withSecrets } from '../../../remote/with-secrets.ts';
import type { Secret } from '../../../secret.ts';
import { connectTo } from '../../servers/connection/connect-server.ts';
import type { ServerAccess } from '../../servers/servers.ts';
import { type ClusterWork, openCluster } from './open-cluster.ts';

/** What it takes to work on the server of an environment. */
export interface TargetAccess extends ServerAccess {
  /** Every secret of an environment; those who give them to it know. */
  readonly secretsOf: (workspaceId: WorkspaceId, environmentId: EnvironmentId) => Promise<readonly Secret[]>;
}

/** Nothing that is printed or complained of through it has a secret of the environment. */
export async function openTarget(
  servers: TargetAccess,
  placement: Placement,
  { operationId, epoch, signal }: Pick<StepContext, 'operationId' | 'epoch' | 'signal'>,
): Promise<Target> {
  const { workspaceId, environmentId } = placement;
  const secrets = await servers.secretsOf(workspaceId, environmentId);
  const known = (remote: Remote) => withSecrets(remote, secrets);
  return engineOf(servers, placement, { fence: { scope: operationId, epoch }, signal, known });
}

/** Swarm's managers take ten to twenty seconds, and a look has thirty. */
const electionMs = 20 * second;

/** For those who only look; so any fence will do, and this one refuses nobody. */
export async function openTargetReadOnly(
  servers: ServerAccess,
  placement: Placement,
  signal: AbortSignal,
): Promise<TargetView> {
  const fence = { scope: 'look', epoch: 0 };
  return engineOf(servers, placement, { fence, signal, known: (remote) => remote, electionMs });
}

async function engineOf(servers: ServerAccess, placement: Placement, work: ClusterWork): Promise<Target> {
  const { clusterId } = placement;
  if (clusterId !== null) return swarm(await openCluster(servers, { ...placement, clusterId }, work));
  const { remote, facts } = await connectTo(servers, placement.workspaceId, placement.serverId);
  const { fence, signal, known } = work;
  return singleServer({ placement, remote: known(remote), capacity: capacityOf(facts), signal, fence });
}
