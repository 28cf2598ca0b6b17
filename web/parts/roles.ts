/** The roles of a workspace, in words. */
import type { Member, WorkspaceMembership } from '../../sdk/index.ts';

export type Role = WorkspaceMembership['role'];

export const roles: readonly { readonly value: Role; readonly text: string }[] = [
  { value: 'viewer', text: 'viewer: looks' },
  { value: 'member', text: 'member: deploys and changes' },
  { value: 'admin', text: 'admin: manages servers and people' },
  { value: 'owner', text: 'owner: everything' },
];

export function roleOf(name: string | undefined): Role {
  return roles.find(({ value }) => value === name)?.value ?? 'viewer';
}

/** Nothing to say where it is all of the workspace. */
export function reachOf(projects: Member['projects']): string {
  if (projects === null) return '';
  return `in ${projects.length} ${projects.length === 1 ? 'project' : 'projects'} only`;
}
