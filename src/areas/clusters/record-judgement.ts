/** Stores what a look has found: as rows, as an event where it is news, and as a notice where somebody should act or may rest. */
import { type NoticeKind, raiseNotice } from '../../events/notices.ts';
import type { Queryable } from '../../store/database.ts';
import { type ClusterStatus, publishClusterUpdate } from './clusters.ts';
import type { Judgement, SeenAs } from './judge-cluster.ts';
import * as queries from './queries.ts';

/** `rows` are the members that were judged, as they were stored until now. */
export async function recordJudgement(
  tx: Queryable,
  key: queries.ClusterKey,
  rows: readonly queries.MemberRow[],
  { status, problem, members }: Judgement,
  now: Date,
): Promise<void> {
  const { workspaceId, id } = key;
  const before = await queries.lockCluster(tx, key);
  if (!before) return;
  for (const member of members) await queries.setSeen(tx, key, member, now);
  await queries.setStatus(tx, key, { status, problem }, now);
  const kind = noticeOf(before.status, status);
  if (kind)
    await raiseNotice(tx, {
      workspaceId,
      kind,
      key: `${kind}:${id}:${now.toISOString()}`,
      subject: { type: 'cluster', id },
      data: { clusterName: before.name, ...(problem && { fault: problem }) },
    });
  const isNews =
    before.status !== status ||
    before.problem?.message !== problem?.message ||
    members.some((member) => isSeenAnew(member, rows));
  if (isNews) await publishClusterUpdate(tx, workspaceId, id, status);
}

const bad: Partial<Record<ClusterStatus, NoticeKind>> = {
  degraded: 'cluster_degraded',
  no_quorum: 'cluster_no_quorum',
  unreachable: 'cluster_unreachable',
};

/** Whole again is only what was told to be broken: a cluster that has just been made was not. */
function noticeOf(before: ClusterStatus, status: ClusterStatus): NoticeKind | undefined {
  if (before === status) return undefined;
  return status === 'ready' && bad[before] ? 'cluster_recovered' : bad[status];
}

function isSeenAnew(seen: SeenAs, rows: readonly queries.MemberRow[]): boolean {
  const row = rows.find(({ serverId }) => serverId === seen.serverId);
  return (
    row?.role !== seen.role ||
    row.isLeader !== seen.isLeader ||
    row.availability !== seen.availability ||
    (row.state === 'ready') !== seen.isUp
  );
}
