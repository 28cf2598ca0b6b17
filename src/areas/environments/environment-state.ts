/** What an environment is at, for those who deploy, stop and look after it: read under its lock, and written. */
import type { DeploymentId, EnvironmentId, ReleaseId, ServerId, WorkspaceId } from '../../ids.ts';
import type { OperationFault } from '../../operations/operations.ts';
import type { Secret } from '../../secret.ts';
import type { Queryable } from '../../store/database.ts';
import type { Sealer } from '../../store/sealed.ts';
import {
  type EnvironmentStatus,
  environmentNotFound,
  type VariableTarget,
  variablePlace,
} from './environments.ts';
import * as queries from './state-queries.ts';
import { listVariables } from './variables/queries.ts';

export type EnvironmentState = queries.EnvironmentState;

/** As it is at this moment; undefined where it is not there, or no longer. */
export function readEnvironmentState(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
): Promise<EnvironmentState | undefined> {
  return queries.findState(db, workspaceId, id);
}

/** For those whose answer would look the same for one that is not there: nothing, an empty list. */
export async function requireEnvironment(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
): Promise<void> {
  if (!(await queries.findState(db, workspaceId, id))) throw environmentNotFound();
}

/** Until the transaction ends, nobody else decides about this environment. */
export async function lockEnvironment(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
): Promise<EnvironmentState> {
  const row = await queries.lockEnvironment(tx, workspaceId, id);
  if (!row) throw environmentNotFound();
  return row;
}

/** The same for those who come late: undefined where it is gone. */
export function tryLockEnvironment(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
): Promise<EnvironmentState | undefined> {
  return queries.lockEnvironment(tx, workspaceId, id);
}

/** Where it is to stand; null for nowhere. */
export async function setServer(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  serverId: ServerId | null,
  now: Date,
): Promise<void> {
  await queries.setServer(tx, workspaceId, id, serverId, now);
}

export async function setStatus(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  status: EnvironmentStatus,
  problem: OperationFault | null,
  now: Date,
): Promise<void> {
  await queries.setStatus(tx, workspaceId, id, status, problem, now);
}

export async function setCurrent(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  current: { readonly deploymentId: DeploymentId; readonly releaseId: ReleaseId } | null,
  now: Date,
): Promise<void> {
  await queries.setCurrent(tx, workspaceId, id, current, now);
}

export async function setWanted(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  wanted: 'running' | 'stopped',
  now: Date,
): Promise<void> {
  await queries.setWanted(tx, workspaceId, id, wanted, now);
}

export interface OpenVariable {
  readonly key: string;
  readonly value: Secret;
  readonly isSecret: boolean;
  readonly target: VariableTarget;
}

/** By key, so that the same variables are the same whatever the order they came in. */
export async function openVariables(
  db: Queryable,
  sealer: Sealer,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
): Promise<OpenVariable[]> {
  const opened: OpenVariable[] = [];
  for (const row of await listVariables(db, workspaceId, id)) {
    const value = await sealer.open(db, variablePlace(workspaceId, row.id), row.valueSealed);
    opened.push({ key: row.key, value, isSecret: row.isSecret, target: row.target });
  }
  return opened;
}
