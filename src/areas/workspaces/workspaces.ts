/**
 * Workspaces: what people share. Owns who is in one, as what and for which projects, how others are invited, and the end
 * of a workspace. Refuses a change that leaves one without an owner, one that makes somebody more than who makes it, and
 * any change of one that is being removed. What a role allows is decided where access is (`http/access.ts`).
 */
import type { Clock } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import type { AccountId, WorkspaceId } from '../../ids.ts';
import type { OperationQueue } from '../../operations/queue.ts';
import { type Permission, type Place, roleAllows } from '../../principal.ts';
import type { Database, Queryable } from '../../store/database.ts';
import type { ClustersContext } from '../clusters/clusters.ts';
import type { ProjectRemovalContext } from '../projects/remove-project.ts';
import type { ServersContext } from '../servers/servers.ts';
import * as queries from './queries.ts';

export interface WorkspacesContext {
  readonly db: Database;
  readonly clock: Clock;
  readonly queue: OperationQueue;
  readonly wakeMail: () => void;
  readonly publicUrl: () => string;
  readonly removals: ProjectRemovalContext;
  readonly clusters: ClustersContext;
  readonly servers: ServersContext;
}

/** Who asks for a change, and where. */
export interface Actor {
  readonly workspaceId: WorkspaceId;
  readonly accountId: AccountId;
}

export function workspaceNotFound(): Fault {
  return new Fault('not_found', 'There is no such workspace, or you are not in it.');
}

export function memberNotFound(): Fault {
  return new Fault('not_found', 'No such member.');
}

/**
 * Changes of who is in a workspace come one after the other, and each looks again at who makes it: of two admins who
 * remove each other at once, the second is none any more.
 */
export async function lockAs(
  tx: Queryable,
  { workspaceId, accountId }: Actor,
  permission: Permission,
): Promise<queries.MemberRow> {
  await queries.lockWorkspace(tx, workspaceId);
  const actor = await queries.findMember(tx, workspaceId, accountId);
  if (!actor) throw workspaceNotFound();
  requireRole(actor, permission);
  return actor;
}

export function requireRole({ role, projects }: Place, permission: Permission): void {
  if (roleAllows(role, permission) && (projects === null || permission === 'read')) return;
  throw new Fault('forbidden', `Your role in this workspace, ${role}, does not allow this.`);
}

/** Nobody makes somebody an owner, or takes that from them, without being one. */
export function requireOwnerFor(actor: Place, ...places: readonly (Place | undefined)[]): void {
  if (places.some((each) => each?.role === 'owner')) requireRole(actor, 'own');
}

/** Only those whose role is about single projects can be limited to some, and only to those that there are. */
export async function checkPlace(tx: Queryable, workspaceId: WorkspaceId, place: Place): Promise<void> {
  if (place.projects === null) return;
  if (place.role === 'owner' || place.role === 'admin')
    throw invalid('projects', `cannot be set for an ${place.role}, who has all projects`);
  const known = await queries.findProjectIds(
    tx,
    workspaceId,
    place.projects.map(({ projectId }) => projectId),
  );
  const missing = place.projects.findIndex(({ projectId }) => !known.has(projectId));
  if (missing >= 0) throw invalid(`projects[${missing}].projectId`, 'is not a project of this workspace');
}

export function invalid(path: string, message: string): Fault {
  return new Fault('invalid_input', `${path} ${message}.`, { errors: [{ path, message }] });
}
