/**
 * Notices: an outbox of what happened that somebody may want to be notified of outside of the service. Written in the
 * transaction of the change itself, so that neither exists without the other; who is notified, and how, is decided
 * afterwards by the notifications area.
 */
import { type EnvironmentId, type NoticeId, newId, type ProjectId, type WorkspaceId } from '../ids.ts';
import type { Queryable } from '../store/database.ts';
import { inBatches } from '../store/in-batches.ts';
import { fragment, sql } from '../store/sql.ts';

export const noticeKinds = [
  'deployment_started',
  'deployment_succeeded',
  'deployment_failed',
  'deployment_cancelled',
  'environment_degraded',
  'environment_recovered',
  'backup_failed',
  'backup_missed',
  'backup_recovered',
  'certificate_failing',
  'certificate_expiring',
  'domain_lost',
  'server_unreachable',
  'server_back',
  'server_host_key_changed',
  'server_security_worse',
  'cluster_degraded',
  'cluster_no_quorum',
  'cluster_unreachable',
  'cluster_recovered',
  'token_revoked',
] as const;

export type NoticeKind = (typeof noticeKinds)[number];

export interface NewNotice {
  readonly workspaceId: WorkspaceId;
  readonly kind: NoticeKind;
  /** Unique within the workspace: the same key twice is one notice. Name the kind, the subject and the occasion. */
  readonly key: string;
  readonly subject: { readonly type: string; readonly id: string };
  /** Where it belongs to a project, it reaches the connectors of that project. */
  readonly projectId?: ProjectId | undefined;
  readonly environmentId?: EnvironmentId | undefined;
  /** What a message says of it, taken now: what it speaks of may be gone when it is sent. Never a secret. */
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Notice {
  readonly id: NoticeId;
  readonly workspaceId: WorkspaceId;
  readonly kind: NoticeKind;
  readonly subject: { readonly type: string; readonly id: string };
  readonly projectId: ProjectId | null;
  readonly environmentId: EnvironmentId | null;
  readonly data: Record<string, unknown>;
  readonly at: Date;
}

/** Channel on which instances are notified of new notices. */
export const noticesChannel = 'slipway_notices';

/** `false` where the same key was raised before. */
export async function raiseNotice(tx: Queryable, notice: NewNotice): Promise<boolean> {
  const raised = await tx.run(sql`
    with raised as (
      insert into notices (workspace_id, id, kind, key, subject_type, subject_id, project_id, environment_id, data, at)
      values (${notice.workspaceId}, ${newId<NoticeId>()}, ${notice.kind}, ${notice.key}, ${notice.subject.type},
        ${notice.subject.id}, ${notice.projectId ?? null}, ${notice.environmentId ?? null},
        ${JSON.stringify(notice.data)}, clock_timestamp())
      on conflict (workspace_id, key) do nothing
      returning id
    )
    select pg_notify(${noticesChannel}, '') from raised`);
  return raised > 0;
}

interface NoticeRow extends Omit<Notice, 'subject'> {
  readonly subjectType: string;
  readonly subjectId: string;
}

const noticeColumns = fragment`
  id, workspace_id as "workspaceId", kind, subject_type as "subjectType", subject_id as "subjectId",
  project_id as "projectId", environment_id as "environmentId", data, at`;

function noticeOf({ subjectType, subjectId, ...row }: NoticeRow): Notice {
  return { ...row, subject: { type: subjectType, id: subjectId } };
}

/** Those not dispatched yet, the oldest first, locked until the transaction ends. */
export async function claimNotices(tx: Queryable, now: Date, limit: number): Promise<Notice[]> {
  const rows = await tx.rows<NoticeRow>(sql`
    update notices set dispatched_at = ${now}
    where id = any(array(
      select id from notices where dispatched_at is null order by id limit ${limit} for update skip locked))
    returning ${noticeColumns}`);
  return rows.map(noticeOf).sort((one, other) => (one.id < other.id ? -1 : 1));
}

export async function readNotices(
  db: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly NoticeId[],
): Promise<Notice[]> {
  const rows = await db.rows<NoticeRow>(sql`
    select ${noticeColumns} from notices where workspace_id = ${workspaceId} and id = any(${ids}::uuid[]) order by id`);
  return rows.map(noticeOf);
}

/** Cascades. By their ids: the ctid of one that is dispatched meanwhile changes. */
export function pruneNotices(db: Queryable, before: Date): Promise<number> {
  return inBatches(async () => ({
    last: null,
    count: await db.run(sql`
      delete from notices where id = any(array(
        select id from notices where at < ${before} order by at limit 2000))`),
  }));
}
