/** The engine that runs an environment where it is placed, for one step of an operation. */
import { capacityOf } from '../../../engine/capacity.ts';
import type { Target, TargetView } from '../../../engine/engine.ts';
import type { Placement } from '../../../engine/placement.ts';
import { singleServer } from '../../../engine/single-server/single-server.ts';
import type { StepContext } from '../../../operations/definition.ts';
import { connectTo } from '../../servers/connection/connect-server.ts';
import type { ServerAccess } from '../../servers/servers.ts';

export async function openTarget(
  servers: ServerAccess,
  placement: Placement,
  { operationId, epoch, signal }: Pick<StepContext, 'operationId' | 'epoch' | 'signal'>,
): Promise<Target> {
  const { remote, facts } = await connectTo(servers, placement.workspaceId, placement.serverId);
  const fence = { scope: operationId, epoch };
  return singleServer({ placement, remote, capacity: capacityOf(facts), signal, fence });
}

/** For those who only look; so any fence will do, and this one refuses nobody. */
export async function openTargetReadOnly(
  servers: ServerAccess,
  placement: Placement,
  signal: AbortSignal,
): Promise<TargetView> {
  const { remote, facts } = await connectTo(servers, placement.workspaceId, placement.serverId);
  const fence = { scope: 'look', epoch: 0 };
  return singleServer({ placement, remote, capacity: capacityOf(facts), signal, fence });
}
