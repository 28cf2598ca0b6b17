/** The way to where an environment stands, for one step of an operation. */
import type { StepContext } from '../../operations/definition.ts';
import { connectTo, type ServerAccess } from '../servers/servers.ts';
import type { Place, Site } from './place.ts';

export async function openSite(
  servers: ServerAccess,
  place: Place,
  { operationId, epoch, signal }: Pick<StepContext, 'operationId' | 'epoch' | 'signal'>,
): Promise<Site> {
  const { remote } = await connectTo(servers, place.workspaceId, place.serverId);
  return { place, remote, signal, fence: { scope: operationId, epoch } };
}
