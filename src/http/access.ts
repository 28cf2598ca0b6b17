/**
 * Who may call what: declared on the route, enforced here and nowhere else. A route without a declaration does
 * not start. The order is always: who is it → are they too fast → may they.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { Fault } from '../fault.ts';
import { type Principal, type Role, type Sessions, unauthenticated } from '../principal.ts';
import type { Limits } from './limits.ts';
import type { Scope } from './scope.ts';

export type Permission = 'read' | 'change' | 'manage';

/** What a route asks of its caller. */
export type Access =
  | { readonly kind: 'public' }
  /** Public and not counted: a probe that is refused takes a healthy instance out of service. */
  | { readonly kind: 'probe' }
  /** A probe that shows the inside: not counted either, and where a token is set, only for who has it. */
  | { readonly kind: 'monitor' }
  | { readonly kind: 'account'; readonly ticket?: boolean }
  | { readonly kind: 'workspace'; readonly permission: Permission; readonly ticket?: boolean };

const permissions: Record<Role, readonly Permission[]> = {
  viewer: ['read'],
  member: ['read', 'change'],
  admin: ['read', 'change', 'manage'],
  owner: ['read', 'change', 'manage'],
};

const workspaceHeader = 'slipway-workspace';
/** What proxies add; nobody behind one can take it away. */
const passedOn = ['forwarded', 'x-forwarded-for', 'x-forwarded-proto', 'via'] as const;

export class AccessControl {
  readonly #sessions: Sessions;
  readonly #limits: Limits;
  readonly #monitor: Pick<Config, 'monitorListen' | 'monitorToken'>;

  constructor(sessions: Sessions, limits: Limits, monitor: Pick<Config, 'monitorListen' | 'monitorToken'>) {
    this.#sessions = sessions;
    this.#limits = limits;
    this.#monitor = monitor;
  }

  async check(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { access } = request.routeOptions.config;
    if (access?.kind === 'probe') return;
    if (access?.kind === 'monitor') return this.#checkMonitor(request);
    // Unknown paths have no declaration; they are public, and counted like everything else.
    if (!access || access.kind === 'public') {
      this.#limits.countRequest(request, reply, undefined);
      return;
    }
    const found = await this.#identify(request, access).catch((error: unknown) => ({ error }));
    this.#limits.countRequest(request, reply, 'error' in found ? undefined : found);
    if ('error' in found) throw found.error;
    request.principal = found;
    if (access.kind === 'workspace') request.scope = chooseScope(request, found, access.permission);
  }

  #identify(
    request: FastifyRequest,
    access: Extract<Access, { kind: 'account' | 'workspace' }>,
  ): Promise<Principal> {
    const ticket = access.ticket ? ticketOf(request.query) : undefined;
    if (ticket !== undefined) return this.#sessions.byStreamTicket(ticket);
    const header = request.headers.authorization;
    if (header === undefined) return Promise.reject(unauthenticated('This needs an access token.'));
    const token = bearerOf(header);
    if (!token)
      return Promise.reject(unauthenticated('The Authorization header must be «Bearer <access token>».'));
    return this.#sessions.byAccessToken(token);
  }

  #checkMonitor({ headers }: FastifyRequest): void {
    const { monitorListen, monitorToken } = this.#monitor;
    if (!monitorToken) {
      // What a proxy on this machine passes on comes from others, though it comes over loopback.
      const isPassedOn = passedOn.some((name) => headers[name] !== undefined);
      if (isPassedOn && monitorListen.at === 'main')
        throw new Fault('not_found', 'There is nothing at this path.');
      return;
    }
    if (isSame(bearerOf(headers.authorization ?? '') ?? '', monitorToken.reveal())) return;
    throw new Fault('unauthenticated', 'This needs the token of those who watch the service.', {
      hint: 'Send «Authorization: Bearer <SLIPWAY_MONITOR_TOKEN>».',
    });
  }
}

function bearerOf(header: string): string | undefined {
  return /^Bearer ([\w.~+/=-]{1,4096})$/i.exec(header)?.[1];
}

/** In a time that tells nothing of how much of it was right. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}

function ticketOf(query: unknown): string | undefined {
  if (typeof query !== 'object' || query === null || !('ticket' in query)) return undefined;
  return typeof query.ticket === 'string' ? query.ticket : undefined;
}

/** The workspace named by the header, else the caller's own. One they are not in does not exist for them. */
function chooseScope(request: FastifyRequest, principal: Principal, permission: Permission): Scope {
  const named = request.headers[workspaceHeader];
  const membership =
    named === undefined ? principal.memberships[0] : principal.memberships.find(({ id }) => id === named);
  if (!membership) throw new Fault('not_found', 'There is no such workspace, or you are not in it.');
  if (!permissions[membership.role].includes(permission)) {
    throw new Fault('forbidden', `Your role in this workspace, ${membership.role}, does not allow this.`);
  }
  return { workspaceId: membership.id, principal };
}
