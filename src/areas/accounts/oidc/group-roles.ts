import type { WorkspaceId } from '../../../ids.ts';
import { type Role, roles } from '../../../principal.ts';
import type { GroupRoles } from '../../../setting-values.ts';

/** Of each workspace, the highest role that one of the groups gives. */
export function rolesOf(groups: readonly string[], map: GroupRoles): ReadonlyMap<WorkspaceId, Role> {
  const wanted = new Map<WorkspaceId, Role>();
  for (const group of groups)
    for (const [id, role] of map.get(group) ?? []) {
      const before = wanted.get(id);
      if (before === undefined || roles.indexOf(role) < roles.indexOf(before)) wanted.set(id, role);
    }
  return wanted;
}
