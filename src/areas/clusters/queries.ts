/** The SQL of this area, always by workspace but for the schedule, which looks at all clusters. */
import type { ClusterId, OperationId, ServerId, WorkspaceId } from '../../ids.ts';
import type { OperationFault } from '../../operations/operations.ts';
import type { Queryable } from '../../store/database.ts';
import { type Due, fragment, sql, takeDue } from '../../store/sql.ts';
import type { Availability, ClusterStatus, MemberState } from './clusters.ts';

export interface ClusterKey {
  readonly workspaceId: WorkspaceId;
  readonly id: ClusterId;
}

export interface ClusterRow {
  readonly id: ClusterId;
  readonly name: string;
  readonly network: string | null;
  readonly status: ClusterStatus;
  readonly problem: OperationFault | null;
  readonly operationId: OperationId | null;
  readonly checkedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface MemberRow {
  readonly clusterId: ClusterId;
  readonly serverId: ServerId;
  readonly name: string;
  readonly state: MemberState;
  readonly role: 'manager' | 'worker' | null;
  readonly isLeader: boolean;
  readonly availability: Availability;
  readonly nodeId: string | null;
  readonly address: string | null;
  readonly canEncrypt: boolean | null;
  readonly hadLiveRestore: boolean | null;
  readonly downSince: Date | null;
}

const clusterColumns = fragment`
  id, name, network::text as network, status, problem, operation_id as "operationId", checked_at as "checkedAt",
  created_at as "createdAt", updated_at as "updatedAt"`;

export interface NewCluster {
  readonly id: ClusterId;
  readonly name: string;
  readonly network: string | null;
}

/** False where the workspace has a cluster of that name already. */
export async function insertCluster(tx: Queryable, workspaceId: WorkspaceId, cluster: NewCluster, now: Date) {
  const { id, name, network } = cluster;
  const made = await tx.run(sql`
    insert into clusters (workspace_id, id, name, network, status, check_at, created_at, updated_at)
    values (${workspaceId}, ${id}, ${name}, ${network}::cidr, 'creating', ${now}, ${now}, ${now})
    on conflict do nothing`);
  return made === 1;
}

export function findCluster(db: Queryable, { workspaceId, id }: ClusterKey) {
  return db.one<ClusterRow>(sql`
    select ${clusterColumns} from clusters where workspace_id = ${workspaceId} and id = ${id}`);
}

export function lockCluster(tx: Queryable, { workspaceId, id }: ClusterKey) {
  return tx.one<ClusterRow>(sql`
    select ${clusterColumns} from clusters where workspace_id = ${workspaceId} and id = ${id} for update`);
}

export function listClusterRows(
  db: Queryable,
  workspaceId: WorkspaceId,
  page: { before: string; limit: number },
) {
  return db.rows<ClusterRow>(sql`
    select ${clusterColumns} from clusters
    where workspace_id = ${workspaceId} and id < ${page.before}::uuid
    order by id desc
    limit ${page.limit}`);
}

/** In the order in which they came. */
export function listMembers(db: Queryable, workspaceId: WorkspaceId, clusterIds: readonly ClusterId[]) {
  return db.rows<MemberRow>(sql`
    select m.cluster_id as "clusterId", m.server_id as "serverId", s.name, m.state, m.role,
      m.is_leader as "isLeader", m.availability, m.node_id as "nodeId", m.address, m.can_encrypt as "canEncrypt",
      m.had_live_restore as "hadLiveRestore", m.down_since as "downSince"
    from cluster_members m join servers s on s.workspace_id = m.workspace_id and s.id = m.server_id
    where m.workspace_id = ${workspaceId} and m.cluster_id = any(${clusterIds}::uuid[])
    order by m.created_at, m.server_id`);
}

/** False where the name is another cluster's. */
export async function renameCluster(
  tx: Queryable,
  { workspaceId, id }: ClusterKey,
  name: string,
  now: Date,
): Promise<boolean> {
  const changed = await tx.run(sql`
    update clusters set name = ${name}, updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id} and not exists (
      select 1 from clusters other
      where other.workspace_id = ${workspaceId} and lower(other.name) = lower(${name}) and other.id <> ${id})`);
  return changed === 1;
}

export function deleteCluster(tx: Queryable, { workspaceId, id }: ClusterKey): Promise<number> {
  return tx.run(sql`delete from clusters where workspace_id = ${workspaceId} and id = ${id}`);
}

export function setOperation(tx: Queryable, { workspaceId, id }: ClusterKey, operationId: OperationId) {
  return tx.run(sql`
    update clusters set operation_id = ${operationId} where workspace_id = ${workspaceId} and id = ${id}`);
}

export function setStatus(
  tx: Queryable,
  { workspaceId, id }: ClusterKey,
  { status, problem }: Pick<ClusterRow, 'status' | 'problem'>,
  now: Date,
) {
  return tx.run(sql`
    update clusters set status = ${status}, problem = ${problem && JSON.stringify(problem)}, checked_at = ${now},
      updated_at = case when status = ${status} then updated_at else ${now} end
    where workspace_id = ${workspaceId} and id = ${id}`);
}

/** False where it is a member already, of this cluster or of another. */
export async function insertMember(
  tx: Queryable,
  { workspaceId, id }: ClusterKey,
  serverId: ServerId,
  now: Date,
): Promise<boolean> {
  const made = await tx.run(sql`
    insert into cluster_members (workspace_id, cluster_id, server_id, state, created_at)
    values (${workspaceId}, ${id}, ${serverId}, 'joining', ${now})
    on conflict do nothing`);
  return made === 1;
}

export interface JoinedMember {
  readonly serverId: ServerId;
  readonly nodeId: string;
  readonly address: string;
  readonly canEncrypt: boolean;
  readonly hadLiveRestore: boolean;
}

export function setJoined(tx: Queryable, { workspaceId, id }: ClusterKey, member: JoinedMember) {
  const { serverId, nodeId, address, canEncrypt, hadLiveRestore } = member;
  return tx.run(sql`
    update cluster_members set state = 'ready', node_id = ${nodeId}, address = ${address},
      can_encrypt = ${canEncrypt}, had_live_restore = ${hadLiveRestore}, down_since = null
    where workspace_id = ${workspaceId} and cluster_id = ${id} and server_id = ${serverId}`);
}

export interface SeenMember {
  readonly serverId: ServerId;
  readonly isUp: boolean;
  readonly role: 'manager' | 'worker';
  readonly isLeader: boolean;
  readonly availability: Availability;
}

/** Of those that neither join nor leave at this moment. */
export function setSeen(tx: Queryable, { workspaceId, id }: ClusterKey, member: SeenMember, now: Date) {
  const { serverId, isUp, role, isLeader, availability } = member;
  return tx.run(sql`
    update cluster_members set state = case when ${isUp} then 'ready' else 'down' end, role = ${role},
      is_leader = ${isLeader}, availability = ${availability},
      down_since = case when ${isUp} then null else coalesce(down_since, ${now}) end
    where workspace_id = ${workspaceId} and cluster_id = ${id} and server_id = ${serverId}
      and state in ('ready', 'down')`);
}

export function setMemberStates(
  tx: Queryable,
  { workspaceId, id }: ClusterKey,
  serverIds: readonly ServerId[],
  state: MemberState,
) {
  return tx.run(sql`
    update cluster_members set state = ${state}
    where workspace_id = ${workspaceId} and cluster_id = ${id} and server_id = any(${serverIds}::uuid[])`);
}

export function deleteMembers(
  tx: Queryable,
  { workspaceId, id }: ClusterKey,
  serverIds: readonly ServerId[],
) {
  return tx.run(sql`
    delete from cluster_members
    where workspace_id = ${workspaceId} and cluster_id = ${id} and server_id = any(${serverIds}::uuid[])`);
}

export function takeDueClusters(db: Queryable, due: Due) {
  return db.rows<ClusterKey>(takeDue('clusters', 'check_at', due));
}
