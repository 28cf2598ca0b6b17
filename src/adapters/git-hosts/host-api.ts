/**
 * The one client for all hosts. The token is put on here, and only for addresses below the host's API; limits are kept;
 * what is not a good answer becomes a fault, and what is one is checked against a schema before anybody uses it.
 */
import Type, { type Static, type TSchema } from 'typebox';
import type { Clock } from '../../clock.ts';
import { errorText, Fault } from '../../fault.ts';
import type { OutboundFetch, OutboundRequest } from '../../outbound-fetch.ts';
import { checkedAnswer } from './answer-schemas.ts';
import { apiUrlOf, hostLabel } from './base-urls.ts';
import type {
  GitHost,
  GitHostAccess,
  HostPage,
  HostRepository,
  ListQuery,
  NewHook,
  RepositoryRef,
} from './host.ts';
import {
  type Answer,
  evidenceOf,
  failed,
  misunderstood,
  notFound,
  type Refusal,
  rateLimited,
  rejected,
  scopesMissing,
  unreachable,
} from './host-faults.ts';
import {
  filterPages,
  type ListPiece,
  type ListPlace,
  nextPage,
  readCursor,
  writeCursor,
} from './host-pages.ts';
import { limitKey, noteLimits, waitMs } from './rate-limits.ts';

/** A repository without its addresses, which are made from the one that the user gave. */
export type FoundRepository = Omit<HostRepository, 'cloneUrl' | 'webUrl'>;

export interface HostCore extends Pick<GitHost, 'account' | 'branches'> {
  repositories(query: ListQuery, signal?: AbortSignal): Promise<HostPage<FoundRepository>>;
  repository(ref: RepositoryRef, signal?: AbortSignal): Promise<FoundRepository>;
  /** The path of a repository in the API. */
  pathOf(ref: RepositoryRef, signal?: AbortSignal): Promise<string>;
}

/** All that one host does in its own way. */
export interface HostDialect {
  readonly accept?: string;
  /** The parameter for the size of a page, and the largest that the host gives. */
  readonly pageSize: { readonly parameter: string; readonly most: number };
  authorization(access: GitHostAccess): string;
  /** Beside the status 429. */
  isLimited?(answer: Answer): boolean;
  /** What is missing, where an answer with 403 is about that. */
  missing(answer: Answer): Refusal | undefined;
  /** Where a list is not the whole body. */
  items?(body: unknown): unknown;
  /** Where the next page is not in the `Link` header. */
  next?(answer: Answer, url: string, label: string): string | null;
  /** The body of the request that makes a webhook for pushes. */
  hook(hook: NewHook): object;
  open(api: HostApi): HostCore;
}

export interface HostRequest {
  readonly method?: string;
  readonly body?: object;
  readonly signal?: AbortSignal | undefined;
}

/** A list in the API, and what becomes of its items. */
export interface HostList<T extends TSchema, R> {
  readonly path: string;
  readonly schema: T;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  of(item: Static<T>): R;
}

const mostRedirects = 3;

export class HostApi {
  readonly access: GitHostAccess;
  readonly label: string;
  readonly #url: string;
  readonly #dialect: HostDialect;
  readonly #fetch: OutboundFetch;
  readonly #clock: Clock;
  readonly #limitKey: string;

  constructor(access: GitHostAccess, dialect: HostDialect, fetch: OutboundFetch, clock: Clock) {
    this.access = access;
    this.label = hostLabel(access.kind, access.baseUrl);
    this.#url = apiUrlOf(access.kind, access.baseUrl);
    this.#dialect = dialect;
    this.#fetch = fetch;
    this.#clock = clock;
    this.#limitKey = limitKey(this.#url, access.token);
  }

  async get<T extends TSchema>(schema: T, path: string, signal?: AbortSignal): Promise<Static<T>> {
    return checkedAnswer(schema, (await this.request(path, { signal })).body, this.label);
  }

  /** Whose token it is. Where no account is found there is no such API: the address leads somewhere else. */
  async user<T extends TSchema>(schema: T, signal?: AbortSignal) {
    const { body, headers } = await unlessMissing(this.request('/user', { signal }), () => {
      throw misunderstood(this.label, 'there is no account to ask for');
    });
    return { user: checkedAnswer(schema, body, this.label), headers };
  }

  /** Gives good answers only, with JSON or nothing in them. */
  async request(path: string, { method = 'GET', body, signal }: HostRequest = {}): Promise<Answer> {
    const answer = await this.#follow(`${this.#url}${path}`, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      ...(signal && { signal }),
    });
    this.#judge(answer);
    return answer;
  }

  /** The page that a query asks for, as the host cuts it. */
  async page<T extends TSchema, R>(list: HostList<T, R>, query: ListQuery): Promise<HostPage<R>> {
    const { size, page } = readCursor(query.page, query.limit, this.#dialect.pageSize.most);
    const { items, next } = await this.piece(list, { size, page });
    return { items, next: next === null ? null : writeCursor({ size, page: next }) };
  }

  /** What fits, out of a list that the host cannot search. */
  filter<T extends TSchema, R>(
    list: HostList<T, R>,
    query: Pick<ListQuery, 'limit' | 'page'>,
    fits: (item: R) => boolean,
  ): Promise<HostPage<R>> {
    return filterPages(query, this.#dialect.pageSize.most, fits, (place) => this.piece(list, place));
  }

  async all<T extends TSchema, R>(list: HostList<T, R>): Promise<readonly R[]> {
    return (await this.filter(list, { limit: Number.POSITIVE_INFINITY }, () => true)).items;
  }

  async piece<T extends TSchema, R>(
    { path, schema, parameters, signal, of }: HostList<T, R>,
    { size, page }: Pick<ListPlace, 'size' | 'page'>,
  ): Promise<ListPiece<R>> {
    const { pageSize, items, next } = this.#dialect;
    const query = new URLSearchParams({ ...parameters, [pageSize.parameter]: String(size), page });
    const answer = await this.request(`${path}?${query}`, { signal });
    const found = checkedAnswer(Type.Array(schema), items ? items(answer.body) : answer.body, this.label);
    return {
      items: found.map(of),
      next: next
        ? next(answer, `${this.#url}${path}`, this.label)
        : nextPage(answer.headers.get('link'), this.label),
    };
  }

  async #send(url: string, init: OutboundRequest): Promise<Answer> {
    const wait = waitMs(this.#limitKey, this.#now());
    if (wait > 0) throw rateLimited(this.label, wait);
    const headers = {
      accept: this.#dialect.accept ?? 'application/json',
      'user-agent': 'Slipway',
      ...init.headers,
      authorization: this.#dialect.authorization(this.access),
    };
    try {
      const response = await this.#fetch(url, { ...init, headers });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, body: jsonOf(text) };
    } catch (error) {
      init.signal?.throwIfAborted();
      // An address that may not be asked is for the person to correct, not for the host.
      if (error instanceof Fault && error.code !== 'egress_failed') throw error;
      const said =
        error instanceof Fault ? [error.message, error.evidence].filter(Boolean).join(' ') : errorText(error);
      throw unreachable(this.label, said, error);
    }
  }

  /** A repository that was renamed answers with its new place; the same host may be asked again, another never. */
  async #follow(url: string, init: OutboundRequest): Promise<Answer> {
    let at = this.#ownUrl(url);
    for (let count = 0; ; count++) {
      const answer = await this.#send(at, init);
      const location = answer.headers.get('location');
      if (answer.status < 300 || answer.status > 399 || location === null) return answer;
      const isSafe = init.method === 'GET' || answer.status === 307 || answer.status === 308;
      if (!isSafe || count === mostRedirects)
        throw failed(this.label, answer, evidenceOf(answer, this.access.token));
      at = this.#ownUrl(URL.parse(location, at)?.href ?? '');
    }
  }

  #ownUrl(text: string): string {
    const [url, api] = [URL.parse(text), new URL(this.#url)];
    if (url?.origin === api.origin && `${url.pathname}/`.startsWith(`${api.pathname.replace(/\/$/, '')}/`))
      return url.href;
    const where = url?.origin ?? 'an unknown one';
    throw new Fault('provider_failed', `${this.label} refers to another address, ${where}.`, {
      hint: 'If the host has moved, give its new address.',
    });
  }

  #judge(answer: Answer): void {
    const { label } = this;
    const isLimited = answer.status === 429 || (this.#dialect.isLimited?.(answer) ?? false);
    noteLimits(this.#limitKey, answer.headers, this.#now(), isLimited);
    if (isLimited) throw rateLimited(label, waitMs(this.#limitKey, this.#now()));
    const evidence = evidenceOf(answer, this.access.token);
    if (answer.status === 401) throw rejected(label, evidence);
    if (answer.status === 403)
      throw scopesMissing(label, this.#dialect.missing(answer) ?? { scopes: [] }, evidence);
    if (answer.status === 404) throw notFound(label, evidence);
    if (answer.status >= 300) throw failed(label, answer, evidence);
    if (answer.text !== '' && answer.body === undefined) throw misunderstood(label, evidence);
  }

  #now(): number {
    return this.#clock.now().getTime();
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Something else in the place of «not found». */
export async function unlessMissing<T, E>(work: Promise<T>, otherwise: () => E): Promise<T | E> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Fault && error.code === 'repository_not_found') return otherwise();
    throw error;
  }
}
