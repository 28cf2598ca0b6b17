/** How an operation of the API is written down: under GitHub's own name and path, with what it asks of the caller. */
import { type Caller, hasScope, maySee, type Role, roleOf } from '../access.ts';
import type { Registry } from '../registry.ts';
import type { BareRepository } from '../repository/git.ts';
import type { Repositories } from '../repository/repositories.ts';
import type { Repository } from '../state.ts';
import { apiPath, type Urls } from '../views/urls.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import { type Answer, ApiError, notFound, requiresAuthentication } from './answers.ts';
import type { ArchiveLinks } from './archive-links.ts';
import type { Allowance, Resource } from './rate-limits.ts';

export interface Services {
  readonly registry: Registry;
  readonly repositories: Repositories;
  readonly webhooks: Webhooks;
  readonly urls: Urls;
  readonly archives: ArchiveLinks;
}

export interface Call extends Services {
  readonly caller: Caller | undefined;
  readonly url: URL;
  /** Where the pages of a list are named: GitHub uses the path by number there. */
  readonly linkPath: string;
  readonly params: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  readonly accept: string;
  allowance(resource: Resource): Allowance;
}

export interface SignedInCall extends Call {
  readonly caller: Caller;
}

export interface RepositoryCall extends Call {
  readonly repository: Repository;
  readonly bare: BareRepository;
  readonly role: Role;
}

interface Described {
  /** As in GitHub's description: `repos/list-branches`. */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Any one of them is enough; none means that no scope is asked for. */
  readonly scopes?: readonly string[];
  /** `free` operations cost nothing. */
  readonly resource?: Resource | 'free';
}

export interface Operation extends Described {
  run(call: Call): Answer | Promise<Answer>;
}

type Handler<C> = (call: C) => Answer | Promise<Answer>;

export function forAnyone(described: Described, handle: Handler<Call>): Operation {
  return { ...described, run: handle };
}

export function forUsers(described: Described, handle: Handler<SignedInCall>): Operation {
  const run = (call: Call) => {
    const { caller } = call;
    if (!caller) throw requiresAuthentication();
    checkScope(described, caller);
    return handle({ ...call, caller });
  };
  return { ...described, run };
}

/** For whoever may see the repository. */
export function forReaders(described: Described, handle: Handler<RepositoryCall>): Operation {
  return { ...described, run: (call) => handle(onRepository(call)) };
}

/** For whoever may change the repository; from others GitHub hides that there is such an operation. */
export function forWriters(
  described: Described & { readonly scopes: readonly string[] },
  handle: Handler<RepositoryCall & SignedInCall>,
): Operation {
  const run = (call: Call) => {
    const { caller } = call;
    if (!caller) throw requiresAuthentication();
    const found = onRepository(call);
    if (found.role !== 'admin') throw notFound();
    checkScope(described, caller);
    return handle({ ...found, caller });
  };
  return { ...described, run };
}

function onRepository(call: Call): RepositoryCall {
  const { owner = '', repo = '', repository_id: id } = call.params;
  const repository =
    id === undefined
      ? call.registry.repository(owner, repo)
      : call.registry.store.state.repositories.find((each) => String(each.id) === id);
  if (!repository || !maySee(call.registry, call.caller, repository)) throw notFound();
  const own = /^\/api\/v3\/(?:repos\/[^/]+\/[^/]+|repositories\/[^/]+)/;
  return {
    ...call,
    linkPath: call.url.pathname.replace(own, `${apiPath}/repositories/${repository.id}`),
    repository,
    bare: call.repositories.of(repository),
    role: roleOf(call.registry, call.caller?.account, repository),
  };
}

function checkScope({ scopes = [] }: Described, caller: Caller): void {
  if (scopes.length === 0 || hasScope(caller, scopes)) return;
  throw new ApiError(
    403,
    `Resource not accessible by personal access token: it needs one of the scopes ${scopes.join(', ')}.`,
  );
}

/** A part of the path; the router has seen to it that it is there. */
export function param(call: Call, name: string): string {
  const value = call.params[name];
  if (value === undefined) throw new Error(`The path of this operation has no ${name}.`);
  return value;
}
