/**
 * Roles that groups at the OpenID Connect provider give. They are set at each sign-in, and taken away when the group is
 * gone. Never touched: a role that was given by hand, the last owner, and a workspace that is being removed.
 */
import { writeEntry } from '../../events/audit.ts';
import type { AccountId, WorkspaceId } from '../../ids.ts';
import type { Role } from '../../principal.ts';
import type { GroupRoles } from '../../setting-values.ts';
import type { Queryable } from '../../store/database.ts';
import * as queries from './group-role-queries.ts';
import { deleteMember, hasOtherOwner } from './queries.ts';

/** How many workspaces the account is in by its groups afterwards. */
export async function setGroupRoles(
  tx: Queryable,
  accountId: AccountId,
  wanted: ReadonlyMap<WorkspaceId, Role>,
  { ip, requestId }: { readonly ip: string; readonly requestId: string },
  now: Date,
): Promise<number> {
  const held = await queries.listGroupWorkspaces(tx, accountId);
  let left = 0;
  // In one order: of two sign-ins that lock the same workspaces, neither waits for the other forever.
  for (const id of [...new Set([...held, ...wanted.keys()])].sort()) {
    if (!(await queries.lockOpenWorkspace(tx, id))) continue;
    const before = await queries.findGroupPlace(tx, id, accountId);
    if (before && !before.fromGroups) continue;
    const role = await allowed(tx, id, accountId, before?.role, wanted.get(id));
    if (role !== undefined) left += 1;
    if (role === before?.role) continue;
    if (role === undefined) await deleteMember(tx, id, accountId);
    else await queries.saveGroupRole(tx, id, accountId, role, now);
    await writeEntry(tx, id, {
      actor: { kind: 'service' },
      action: 'setGroupRole',
      subject: { type: 'member', id: accountId },
      changes: { asked: { role: role ?? null }, before: { role: before?.role ?? null } },
      ip,
      requestId,
    });
  }
  return left;
}

/** What the settings name and is not here, or not any more: nobody gets a role by it, and nobody would be told. */
export async function unknownWorkspaces(
  db: Queryable,
  map: GroupRoles,
): Promise<readonly { readonly workspaceId: WorkspaceId; readonly groups: string[] }[]> {
  const groups = new Map<WorkspaceId, string[]>();
  for (const [group, places] of map)
    for (const id of places.keys()) groups.set(id, [...(groups.get(id) ?? []), group]);
  const known = await queries.findWorkspaces(db, [...groups.keys()]);
  return [...groups].flatMap(([workspaceId, names]) =>
    known.has(workspaceId) ? [] : [{ workspaceId, groups: names }],
  );
}

/** The last owner stays one, whatever the groups say: somebody has to be able to go on. */
async function allowed(
  tx: Queryable,
  id: WorkspaceId,
  accountId: AccountId,
  before: Role | undefined,
  wanted: Role | undefined,
): Promise<Role | undefined> {
  if (before !== 'owner' || wanted === 'owner') return wanted;
  return (await hasOtherOwner(tx, id, accountId)) ? wanted : before;
}
