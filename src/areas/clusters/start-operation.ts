/** Starts what changes a cluster, one thing at a time: the cluster is locked, and refused where it is busy. */
import { Fault } from '../../fault.ts';
import type { AccountId, ClusterId, OperationId, ServerId, WorkspaceId } from '../../ids.ts';
import type { Json } from '../../operations/definition.ts';
import { enqueueOperation, hasUnfinishedInQueue } from '../../operations/operations.ts';
import type { Queryable } from '../../store/database.ts';
import { type ClustersContext, clusterNotFound } from './clusters.ts';
import * as queries from './queries.ts';

export interface ClusterRequest {
  readonly workspaceId: WorkspaceId;
  readonly clusterId: ClusterId;
  readonly requestedBy?: AccountId;
}

/** Until the transaction ends nobody else decides about it. */
export async function lockIdle(tx: Queryable, { workspaceId, clusterId }: ClusterRequest) {
  const cluster = await queries.lockCluster(tx, { workspaceId, id: clusterId });
  if (!cluster) throw clusterNotFound();
  if (await hasUnfinishedInQueue(tx, clusterId))
    throw new Fault('cluster_busy', 'The cluster is being changed.', {
      ...(cluster.operationId && { evidence: `operation ${cluster.operationId}` }),
    });
  return { cluster, members: await queries.listMembers(tx, workspaceId, [clusterId]) };
}

export async function enqueueOnCluster(
  tx: Queryable,
  { queue }: Pick<ClustersContext, 'queue'>,
  { workspaceId, clusterId, requestedBy }: ClusterRequest,
  kind: string,
  input: Readonly<Record<string, Json>>,
): Promise<OperationId> {
  const operationId = await enqueueOperation(tx, queue, {
    workspaceId,
    kind,
    input: { ...input, clusterId },
    subject: { type: 'cluster', id: clusterId },
    queueKey: clusterId,
    ...(requestedBy && { requestedBy }),
  });
  await queries.setOperation(tx, { workspaceId, id: clusterId }, operationId);
  return operationId;
}

export interface ClusterInput {
  readonly clusterId: ClusterId;
  readonly serverIds: readonly ServerId[];
}

export function readClusterInput(stored: unknown): ClusterInput {
  const { clusterId, serverIds = [] } = Object(stored);
  if (typeof clusterId !== 'string' || !Array.isArray(serverIds))
    throw new Error('the input names no cluster');
  return { clusterId: clusterId as ClusterId, serverIds: serverIds.map((each) => String(each) as ServerId) };
}
