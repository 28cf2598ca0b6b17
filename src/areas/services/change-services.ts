/** What is wanted of an environment's services from now on; where it stands on a server, the work towards it begins. */
import type { AccountId, EnvironmentId, OperationId, WorkspaceId } from '../../ids.ts';
import { enqueueOperation } from '../../operations/operations.ts';
import type { SaveResponse } from '../../store/answer.ts';
import type { Queryable } from '../../store/database.ts';
import { type EnvironmentState, lockEnvironment } from '../environments/environment-state.ts';
import type { WantedService } from '../environments/hooks.ts';
import { publishProjectEvent } from '../projects/projects.ts';
import { readServer } from '../servers/read-server.ts';
import { type Changes, decideServices, requireConfirmed } from './decide-services.ts';
import * as queries from './queries.ts';
import { listedServices } from './read-services.ts';
import type { ServiceRequestsContext } from './services.ts';
import { readServicesInput } from './services-input.ts';

export const servicesKind = 'environment_services';

export interface ServicesInput {
  readonly services: readonly WantedService[];
  /** Names of those that are to go. */
  readonly remove?: readonly string[];
  readonly deleteData?: boolean;
}

export async function changeServices(
  ctx: ServiceRequestsContext,
  workspaceId: WorkspaceId,
  accountId: AccountId | null,
  environmentId: EnvironmentId,
  { services: wanted, remove = [], deleteData = false }: ServicesInput,
  saveResponse: SaveResponse,
) {
  const now = ctx.clock.now();
  return ctx.db.transaction(async (tx) => {
    const environment = await lockEnvironment(tx, workspaceId, environmentId);
    const { serverId } = environment;
    const server = serverId === null ? null : await readServer(tx, workspaceId, serverId);
    const inputs = readServicesInput(wanted, server?.facts ?? null);
    const rows = await queries.lockServices(tx, workspaceId, environmentId);
    const changes = decideServices(rows, inputs);
    requireConfirmed(changes, inputs, remove);
    await store(tx, workspaceId, environmentId, changes, now);
    const operationId =
      environment.serverId === null || (rows.length === 0 && inputs.length === 0)
        ? null
        : await enqueue(ctx, tx, environment, { workspaceId, accountId, deleteData });
    const services = await listedServices(tx, workspaceId, environmentId);
    await publishProjectEvent(tx, workspaceId, environment.projectId, { reason: 'services', environmentId });
    const isLive = environment.currentDeploymentId !== null;
    const needs: 'restart' | 'nothing' = isLive && changes.doVariablesChange ? 'restart' : 'nothing';
    const body = { services, operationId, needs };
    if (operationId === null) return saveResponse(tx, { status: 200, body });
    return saveResponse(tx, { status: 202, location: `/api/v1/operations/${operationId}`, body });
  });
}

async function store(
  tx: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  { added, changed, removed }: Changes,
  now: Date,
): Promise<void> {
  // Names and addresses of those that go are free for those that come.
  for (const { id } of removed) await queries.removeService(tx, workspaceId, id, now);
  const dataless = removed.filter(({ dataVersion }) => dataVersion === null).map(({ id }) => id);
  await queries.forgetRemoved(tx, workspaceId, dataless);
  for (const service of changed) await queries.updateService(tx, workspaceId, service, now);
  for (const service of added) await queries.insertService(tx, workspaceId, environmentId, service, now);
}

function enqueue(
  { queue }: ServiceRequestsContext,
  tx: Queryable,
  { id, serverId }: EnvironmentState,
  input: {
    readonly workspaceId: WorkspaceId;
    readonly accountId: AccountId | null;
    readonly deleteData: boolean;
  },
): Promise<OperationId> {
  const { workspaceId, accountId, deleteData } = input;
  return enqueueOperation(tx, queue, {
    workspaceId,
    kind: servicesKind,
    input: { environmentId: id, deleteData },
    subject: { type: 'environment', id },
    ...(serverId !== null && { serverId }),
    ...(accountId !== null && { requestedBy: accountId }),
    queueKey: id,
  });
}
