/** The SQL of this area, always by workspace but for the schedules, which check all servers. */
import type { ClusterId, ServerId, WorkspaceId } from '../../ids.ts';
import type { HostKeyFingerprint } from '../../remote/remote.ts';
import type { Queryable } from '../../store/database.ts';
import { type Due, fragment, sql, takeDue } from '../../store/sql.ts';
import type { SecurityCheck } from './security/rule.ts';
import type { SecurityReport } from './security/security.ts';
import type { SecurityState } from './security/summary.ts';
import type { ServerFacts, ServerStatus } from './servers.ts';

export interface ServerKey {
  readonly workspaceId: WorkspaceId;
  readonly id: ServerId;
}

export interface ServerRow {
  readonly id: ServerId;
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly publicKey: string;
  readonly hostKey: HostKeyFingerprint | null;
  readonly offeredHostKey: HostKeyFingerprint | null;
  readonly status: ServerStatus;
  readonly problem: ServerProblem['problem'] | null;
  readonly facts: ServerFacts | null;
  readonly provisionedAt: Date | null;
  readonly lastSeenAt: Date | null;
  /** The cluster that it is a member of, joins or leaves. */
  readonly clusterId: ClusterId | null;
  readonly securityState: SecurityState | null;
  readonly securityScore: number | null;
  readonly securityCheckedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const serverColumns = fragment`
  id, name, host, port, username, public_key as "publicKey", host_key as "hostKey",
  offered_host_key as "offeredHostKey", status, problem, facts, provisioned_at as "provisionedAt",
  last_seen_at as "lastSeenAt",
  (select cluster_id from cluster_members m where m.workspace_id = servers.workspace_id and m.server_id = servers.id)
    as "clusterId", security_state as "securityState", security_score as "securityScore",
  security_checked_at as "securityCheckedAt", created_at as "createdAt", updated_at as "updatedAt"`;

export interface TargetRow {
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly privateKeySealed: Buffer;
  readonly hostKey: HostKeyFingerprint | null;
  readonly offeredHostKey: HostKeyFingerprint | null;
  readonly status: ServerStatus;
  readonly facts: ServerFacts | null;
  /** Another record, perhaps of another workspace, is the one that the machine is worked on through. */
  readonly isTaken: boolean;
}

export interface NewServer {
  readonly id: ServerId;
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly privateKeySealed: Buffer;
  readonly publicKey: string;
  readonly hostKey: HostKeyFingerprint | null;
}

/** False where the workspace has a server of that name already. */
export async function insertServer(tx: Queryable, workspaceId: WorkspaceId, server: NewServer, now: Date) {
  const { id, name, host, port, username, privateKeySealed, publicKey, hostKey } = server;
  return (
    (await tx.run(sql`
      insert into servers (workspace_id, id, name, host, port, username, private_key_sealed, public_key, host_key,
        status, check_at, created_at, updated_at)
      values (${workspaceId}, ${id}, ${name}, ${host}, ${port}, ${username}, ${privateKeySealed}, ${publicKey},
        ${hostKey}, 'pending', ${now}, ${now}, ${now})
      on conflict do nothing`)) === 1
  );
}

export function findServer(db: Queryable, { workspaceId, id }: ServerKey) {
  return db.one<ServerRow>(sql`
    select ${serverColumns} from servers where workspace_id = ${workspaceId} and id = ${id}`);
}

export function listServerRows(
  db: Queryable,
  workspaceId: WorkspaceId,
  page: { before: string; limit: number },
) {
  return db.rows<ServerRow>(sql`
    select ${serverColumns} from servers
    where workspace_id = ${workspaceId} and id < ${page.before}::uuid
    order by id desc
    limit ${page.limit}`);
}

export function findTarget(db: Queryable, { workspaceId, id }: ServerKey) {
  return db.one<TargetRow>(sql`
    select host, port, username, private_key_sealed as "privateKeySealed", host_key as "hostKey",
      offered_host_key as "offeredHostKey", status, facts, exists (
        select 1 from servers other where other.host_key = servers.host_key and other.holds_machine
          and other.id <> servers.id) as "isTaken"
    from servers where workspace_id = ${workspaceId} and id = ${id}`);
}

/**
 * For a record that has just logged in there: only who may log in can take a machine. False where another has it. The
 * lock lets two that log in at once both have an answer.
 */
export async function holdMachine(tx: Queryable, { workspaceId, id }: ServerKey): Promise<boolean> {
  await tx.run(sql`
    select pg_advisory_xact_lock(hashtextextended('machine ' || host_key, 0)) from servers
    where workspace_id = ${workspaceId} and id = ${id} and not holds_machine`);
  const held = await tx.run(sql`
    update servers set holds_machine = true
    where workspace_id = ${workspaceId} and id = ${id} and (holds_machine or not exists (
      select 1 from servers other where other.host_key = servers.host_key and other.holds_machine))`);
  return held === 1;
}

export interface ServerChange {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly hostKey: HostKeyFingerprint | null;
}

/** A server with another address or user, or whose key was accepted, is probed anew: it may be another machine. */
export function updateServerRow(
  tx: Queryable,
  { workspaceId, id }: ServerKey,
  change: ServerChange,
  isNewConnection: boolean,
  now: Date,
): Promise<number> {
  return tx.run(sql`
    update servers set name = ${change.name}, host = ${change.host}, port = ${change.port},
      username = ${change.username}, host_key = ${change.hostKey}, updated_at = ${now},
      status = case when ${isNewConnection} then 'pending' else status end,
      problem = case when ${isNewConnection} then null else problem end,
      offered_host_key = case when ${isNewConnection} then null else offered_host_key end,
      holds_machine = holds_machine and not ${isNewConnection},
      check_at = case when ${isNewConnection} then ${now} else check_at end
    where workspace_id = ${workspaceId} and id = ${id}`);
}

/** Trust on first use; later it can only confirm. Whether the pinned key is now this one. */
export async function pinHostKey(
  tx: Queryable,
  { workspaceId, id }: ServerKey,
  hostKey: HostKeyFingerprint,
): Promise<boolean> {
  const pinned = await tx.run(sql`
    update servers set host_key = coalesce(host_key, ${hostKey})
    where workspace_id = ${workspaceId} and id = ${id} and (host_key is null or host_key = ${hostKey})`);
  return pinned === 1;
}

export function lockServer(tx: Queryable, { workspaceId, id }: ServerKey) {
  return tx.exists(sql`
    select 1 from servers where workspace_id = ${workspaceId} and id = ${id} for update`);
}

export function holdServer(tx: Queryable, { workspaceId, id }: ServerKey) {
  return tx.exists(sql`
    select 1 from servers where workspace_id = ${workspaceId} and id = ${id} for key share`);
}

export function deleteServer(tx: Queryable, { workspaceId, id }: ServerKey): Promise<number> {
  return tx.run(sql`delete from servers where workspace_id = ${workspaceId} and id = ${id}`);
}

export function isServerNameTaken(
  db: Queryable,
  workspaceId: WorkspaceId,
  name: string,
  except: ServerId,
): Promise<boolean> {
  return db.exists(sql`
    select 1 from servers
    where workspace_id = ${workspaceId} and lower(name) = lower(${name}) and id <> ${except}`);
}

/** It is ready once it was provisioned; until then it is only known to respond. */
export function setServerSeen(
  tx: Queryable,
  { workspaceId, id }: ServerKey,
  { facts, isProvisioned }: { readonly facts: ServerFacts; readonly isProvisioned: boolean },
  now: Date,
) {
  return tx.run(sql`
    update servers set facts = ${JSON.stringify(facts)}, last_seen_at = ${now}, missed = 0, problem = null,
      offered_host_key = null,
      status = case when ${isProvisioned} or provisioned_at is not null then 'ready' else 'pending' end,
      provisioned_at = case when ${isProvisioned} then coalesce(provisioned_at, ${now}) else provisioned_at end,
      updated_at = case when ${isProvisioned} then ${now} else updated_at end
    where workspace_id = ${workspaceId} and id = ${id}`);
}

export interface ServerProblem {
  readonly status: ServerStatus;
  readonly problem: { readonly code: string; readonly message: string; readonly hint: string | null };
  readonly offered: HostKeyFingerprint | null;
}

export function setProblem(
  tx: Queryable,
  { workspaceId, id }: ServerKey,
  { status, problem, offered }: ServerProblem,
  now: Date,
) {
  return tx.run(sql`
    update servers set status = ${status}, problem = ${JSON.stringify(problem)}, offered_host_key = ${offered},
      missed = missed + 1, updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

export function takeDueServers(db: Queryable, due: Due) {
  return db.rows<ServerKey>(takeDue('servers', 'check_at', due));
}

export async function countMissed(db: Queryable, { workspaceId, id }: ServerKey): Promise<number> {
  const row = await db.one<{ missed: number }>(sql`
    select missed from servers where workspace_id = ${workspaceId} and id = ${id}`);
  return row?.missed ?? 0;
}

export function postponeCheck(db: Queryable, { workspaceId, id }: ServerKey, until: Date) {
  return db.run(sql`
    update servers set check_at = ${until} where workspace_id = ${workspaceId} and id = ${id}`);
}

export interface SecurityRow {
  readonly name: string;
  readonly host: string;
  readonly state: SecurityState | null;
  readonly score: number | null;
  readonly checks: readonly SecurityCheck[] | null;
  readonly checkedAt: Date | null;
}

export function findSecurity(db: Queryable, { workspaceId, id }: ServerKey) {
  return db.one<SecurityRow>(sql`
    select name, host, security_state as state, security_score as score, security_checks as checks,
      security_checked_at as "checkedAt"
    from servers where workspace_id = ${workspaceId} and id = ${id}`);
}

export function setSecurity(
  tx: Queryable,
  { workspaceId, id }: ServerKey,
  { state, score, checks }: SecurityReport,
  now: Date,
) {
  return tx.run(sql`
    update servers set security_state = ${state}, security_score = ${score},
      security_checks = ${JSON.stringify(checks)}, security_checked_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

export function listSecurityDue(db: Queryable, before: Date, most: number) {
  return db.rows<ServerKey>(sql`
    select workspace_id as "workspaceId", id from servers
    where status = 'ready' and (security_checked_at is null or security_checked_at < ${before})
    order by security_checked_at nulls first
    limit ${most}`);
}
