/**
 * Who may call what: declared on the route, enforced here and nowhere else. A route without a declaration does
 * not start. The order is always: who is it → are they too fast → may they.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Clock, minute } from '../clock.ts';
import type { Config } from '../config.ts';
import { Fault } from '../fault.ts';
import { isId, type ProjectId, type ServerId, type WorkspaceId } from '../ids.ts';
import {
  abilitiesAllow,
  type Membership,
  type Permission,
  type Principal,
  type ProjectRole,
  type Role,
  roleAllows,
  roles,
  type Sessions,
  unauthenticated,
} from '../principal.ts';
import type { Limits } from './limits.ts';
import { principalOf, type Scope, scopeOf } from './scope.ts';

/**
 * How a call of a workspace concerns its projects, for those who are limited to some of them: what is named by the path,
 * a list that holds theirs alone, or a body that names the project. What declares nothing is about the whole workspace,
 * and not for them.
 */
export type Reach = 'project' | 'environment' | 'operation' | 'list' | 'body';

/**
 * Where a person must have proven who they are within the last minutes: for every call, or where the body has one of these
 * values in this field. It is for what hands out secrets, and for what weakens the protection of an account, a workspace or
 * the installation: a screen that was left alone must not be enough.
 */
export type Fresh = true | Readonly<Record<string, readonly (string | boolean)[]>>;

/** What a route asks of its caller. */
export type Access =
  | { readonly kind: 'public' }
  /** Public and not counted: a probe that is refused takes a healthy instance out of service. */
  | { readonly kind: 'probe' }
  /** A probe that shows the inside: not counted either, and where a token is set, only for who has it. */
  | { readonly kind: 'monitor' }
  /** Of a person; API tokens only where it says so. */
  | {
      readonly kind: 'account';
      readonly ticket?: boolean;
      readonly tokens?: boolean;
      readonly fresh?: Fresh;
    }
  | {
      readonly kind: 'workspace';
      readonly permission: Permission;
      readonly reach?: Reach;
      readonly ticket?: boolean;
      /** Not for API tokens, whatever they may do. */
      readonly person?: boolean;
      /** The workspace is the one that the path names as \`:id\`, not the one of the header. */
      readonly inPath?: boolean;
      readonly fresh?: Fresh;
      /** Also for whoever lacks the second factor that the workspace requires: to see that, or to leave. */
      readonly withoutFactor?: boolean;
    }
  /** Of those who look after the installation, signed in. */
  | { readonly kind: 'operator'; readonly fresh?: Fresh };
type WorkspaceAccess = Extract<Access, { kind: 'workspace' }>;
type PersonalAccess = Extract<Access, { kind: 'account' | 'workspace' | 'operator' }>;

/** For how long a password or second factor that was given is a fresh proof. */
const freshMs = 10 * minute;

/** Which project a thing belongs to, asked only for those who are limited to some. */
export interface ProjectLookup {
  projectOf(workspaceId: WorkspaceId, type: Reach, id: string): Promise<ProjectId | undefined>;
  /** Whether one of these projects stands on the server already. */
  isServerOf(workspaceId: WorkspaceId, projects: readonly ProjectId[], id: ServerId): Promise<boolean>;
}

const workspaceHeader = 'slipway-workspace';
/** What proxies add; nobody behind one can take it away. */
const passedOn = ['forwarded', 'x-forwarded-for', 'x-forwarded-proto', 'via'] as const;

export class AccessControl {
  readonly #sessions: Sessions;
  readonly #limits: Limits;
  readonly #projects: ProjectLookup;
  readonly #clock: Clock;
  readonly #monitor: Pick<Config, 'monitorListen' | 'monitorToken'>;

  constructor(
    sessions: Sessions,
    limits: Limits,
    projects: ProjectLookup,
    clock: Clock,
    monitor: Pick<Config, 'monitorListen' | 'monitorToken'>,
  ) {
    this.#sessions = sessions;
    this.#limits = limits;
    this.#projects = projects;
    this.#clock = clock;
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
    refuseToken(found, access);
    if (access.kind === 'operator' && !(await this.#sessions.isOperator(found.accountId)))
      throw new Fault('forbidden', 'This is for those who look after the installation.');
    if (access.kind !== 'workspace') {
      if (access.fresh === true) this.#requireFresh(found);
      return;
    }
    const membership = chooseMembership(request, found, access);
    if (membership.lacksFactor && !access.withoutFactor) throw secondFactorMissing(found);
    refuseChange(membership, access.permission);
    const { id: workspaceId, projects } = membership;
    if (projects === null) {
      requirePermission(found, membership.role, access.permission);
      request.scope = { workspaceId, principal: found, role: membership.role, projects };
    } else request.scope = await this.#limitedScope(request, found, { ...membership, projects }, access);
    if (access.fresh === true) this.#requireFresh(found);
  }

  /** With the body, where only some of what it may say asks for a fresh proof. */
  checkFresh(request: FastifyRequest, fresh: Exclude<Fresh, true>): void {
    const isAsked = Object.entries(fresh).some(([field, values]) =>
      [Object(request.body)[field]].flat().some((each) => values.includes(each)),
    );
    if (isAsked) this.#requireFresh(principalOf(request));
  }

  /** A token is its own proof: whoever made it gave it what it may do. */
  #requireFresh({ credential, secondFactor }: Principal): void {
    if (credential.kind === 'token') return;
    if (this.#clock.now().getTime() - credential.provenAt.getTime() < freshMs) return;
    const what = secondFactor ? 'second factor' : 'password';
    throw new Fault('fresh_proof_required', `This asks for your ${what} again.`, {
      hint: 'Prove it with POST /auth/confirm, or at the provider with POST /auth/oidc/confirm, then repeat the call.',
    });
  }

  /** With the body, for those who are limited to some projects: every project and server that it names is theirs. */
  async checkBody(request: FastifyRequest): Promise<void> {
    const { workspaceId, projects } = scopeOf(request);
    if (projects === null) return;
    for (const [name, id] of namedIn(request.body)) {
      const isTheirs = name.endsWith('rojectId')
        ? projects.some((each) => each === id)
        : isId<ServerId>(id) && (await this.#projects.isServerOf(workspaceId, projects, id));
      if (!isTheirs)
        throw new Fault('not_found', `There is no such ${name.replace(/Id$/, '')}, or it is not yours.`);
    }
  }

  async #limitedScope(
    request: FastifyRequest,
    principal: Principal,
    { id: workspaceId, projects }: Membership & { readonly projects: readonly ProjectRole[] },
    { permission, reach }: WorkspaceAccess,
  ): Promise<Scope> {
    if (reach === undefined)
      throw new Fault(
        'forbidden',
        'This is about the whole workspace, and you are limited to some of its projects.',
      );
    if (reach === 'list' || reach === 'body') {
      const allowed = projects.filter(({ role }) => roleAllows(role, permission));
      const role = roles.find((each) => allowed.some((project) => project.role === each)) ?? 'viewer';
      requirePermission(principal, role, permission);
      return { workspaceId, principal, role, projects: allowed.map(({ projectId }) => projectId) };
    }
    const { id, projectId } = Object(request.params);
    const named = String(projectId ?? id);
    const found = isId(named) ? await this.#projects.projectOf(workspaceId, reach, named) : undefined;
    const own = projects.find((each) => each.projectId === found);
    if (!own) throw new Fault('not_found', `There is no such ${reach}, or it is not yours.`);
    requirePermission(principal, own.role, permission);
    return { workspaceId, principal, role: own.role, projects: projects.map((each) => each.projectId) };
  }

  #identify(request: FastifyRequest, access: PersonalAccess): Promise<Principal> {
    const ticket = access.kind !== 'operator' && access.ticket ? ticketOf(request.query) : undefined;
    if (ticket !== undefined) return this.#sessions.byStreamTicket(ticket);
    const header = request.headers.authorization;
    if (header === undefined) return Promise.reject(unauthenticated('This needs an access token.'));
    const token = bearerOf(header);
    if (!token)
      return Promise.reject(unauthenticated('The Authorization header must be «Bearer <access token>».'));
    return this.#sessions.byBearer(token);
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
function chooseMembership(
  request: FastifyRequest,
  principal: Principal,
  { inPath = false }: WorkspaceAccess,
): Membership {
  const named: unknown = inPath ? Object(request.params).id : request.headers[workspaceHeader];
  const membership =
    named === undefined ? principal.memberships[0] : principal.memberships.find(({ id }) => id === named);
  if (!membership) throw new Fault('not_found', 'There is no such workspace, or you are not in it.');
  return membership;
}

function refuseToken({ credential }: Principal, access: PersonalAccess): void {
  if (credential.kind !== 'token') return;
  const takesTokens =
    access.kind === 'workspace' ? !access.person : access.kind === 'account' && access.tokens;
  if (!takesTokens)
    throw new Fault('forbidden', 'An API token cannot do this.', {
      hint: 'Sign in with POST /auth/login.',
    });
}

function secondFactorMissing({ credential }: Principal): Fault {
  const who = credential.kind === 'token' ? 'whoever made this API token has none' : 'you have none yet';
  return new Fault('second_factor_missing', `This workspace requires a second factor, and ${who}.`, {
    hint: 'Set up an authenticator app with POST /auth/totp, or a passkey with POST /auth/passkeys/options.',
  });
}

/** Its end is under way: what is changed now would be in its way, or left behind. */
function refuseChange({ closing }: Membership, permission: Permission): void {
  if (closing && permission !== 'read' && permission !== 'own')
    throw new Fault('forbidden', 'This workspace is being removed, and takes no changes.', {
      hint: 'Its operation `workspace_remove` tells how far that is; an owner may cancel it.',
    });
}

function requirePermission({ credential }: Principal, role: Role, permission: Permission): void {
  if (!roleAllows(role, permission))
    throw new Fault('forbidden', `Your role in this workspace, ${role}, does not allow this.`);
  if (credential.kind === 'session' || abilitiesAllow(credential.abilities, permission)) return;
  throw new Fault(
    'forbidden',
    `This API token may ${list(credential.abilities)} only; this needs ${permission}.`,
    {
      hint: 'Make a token with this ability, with POST /api-tokens.',
    },
  );
}

const list = (words: readonly string[]) => words.join(', ').replaceAll('_', ' ');

/** Every project and server that a body names, however deep. */
function* namedIn(value: unknown): Iterable<readonly [name: string, id: string]> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, each] of Object.entries(value))
    if (/^(project|server|\w+(Project|Server))Id$/.test(name) && typeof each === 'string') yield [name, each];
    else yield* namedIn(each);
}
