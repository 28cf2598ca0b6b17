/** Who a request is from, and for which workspace, once that was checked (`access.ts`). */
import type { FastifyRequest } from 'fastify';
import type { ProjectId, WorkspaceId } from '../ids.ts';
import type { Principal, Role } from '../principal.ts';

/** What a workspace query cannot do without: made only by `access.ts`, after the caller's membership was checked. */
export interface Scope {
  readonly workspaceId: WorkspaceId;
  readonly principal: Principal;
  /** What the caller is there, or in the project that the call is about. */
  readonly role: Role;
  /** The only ones that there are for the caller; null for all of the workspace. */
  readonly projects: readonly ProjectId[] | null;
}

/** For handlers of routes that declare `account`: the compiler cannot know that the check ran, this does. */
export function principalOf(request: FastifyRequest): Principal {
  if (!request.principal)
    throw new Error(`${request.routeOptions.url} did not declare that it needs an account`);
  return request.principal;
}

/** For handlers of routes that declare `workspace`. */
export function scopeOf(request: FastifyRequest): Scope {
  if (!request.scope)
    throw new Error(`${request.routeOptions.url} did not declare that it needs a workspace`);
  return request.scope;
}
