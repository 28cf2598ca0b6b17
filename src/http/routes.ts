/**
 * How an area declares its paths. A route is its declaration: who may call it, what goes in and out, and the use case
 * that does it. Scope, typed ids, status, location and idempotency are taken care of here.
 */
import { Readable } from 'node:stream';
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify';
import type { TSchema, TUnion } from 'typebox';
import type { ApiFaultCode } from '../fault.ts';
import type { Permission, Sessions } from '../principal.ts';
import type { Answer, SaveResponse } from '../store/answer.ts';
import type { Database } from '../store/database.ts';
import type { Access, Reach } from './access.ts';
import { noteOf } from './audit-note.ts';
import type { Idempotency } from './idempotency.ts';
import { type LiveEvents, sendLive } from './live.ts';
import {
  type EventsRoute,
  type Idempotently,
  RequestCall,
  type Responses,
  type Route,
  type RouteSettings,
  type TunnelRoute,
} from './route.ts';
import { streamAnswers } from './schemas.ts';
import type { HttpServer } from './server.ts';
import type { StreamSlots } from './stream-slots.ts';
import type { StreamRequest, Streams } from './streams.ts';
import { type ByteStream, openTunnel, requireTunnel } from './tunnels.ts';

/** What a call takes of a role; browsers open streams without headers: a ticket stands for the token. */
function within<R extends Reach | undefined>(reach: R) {
  const declared = <P extends Permission>(permission: P) =>
    ({ kind: 'workspace', permission, ...(reach !== undefined && { reach }) }) as const;
  return {
    read: declared('read'),
    deploy: declared('deploy'),
    change: declared('change'),
    manage: declared('manage'),
    readSecrets: declared('read_secrets'),
    stream: { ...declared('read'), ticket: true },
  } as const;
}

/** Calls about the workspace as a whole, and about what those see who are limited to some of its projects. */
export const { read, change, manage } = within(undefined);
export const ofProject = within('project');
export const ofEnvironment = within('environment');
export const ofOperation = within('operation');
export const ofList = within('list');
export const ofBody = within('body');

/** Calls about a workspace that the path names as \`:id\`. */
export const inWorkspace = {
  read: { ...read, inPath: true },
  manage: { ...manage, inPath: true },
  /** Who hands out what an admin may do proves who they are. */
  appoint: { ...manage, inPath: true, fresh: { role: ['owner', 'admin'] } },
  /** Of owners, and no token of theirs. */
  own: { kind: 'workspace', permission: 'own', inPath: true, person: true, fresh: true },
  /** Also for those who are limited to some projects: that they are in it. */
  see: { ...ofList.read, inPath: true, withoutFactor: true },
  leave: { ...ofList.read, inPath: true, person: true, withoutFactor: true },
} as const;

/** What a repeated call may meet. */
const idempotencyFaults: readonly ApiFaultCode[] = ['idempotency_in_progress', 'idempotency_mismatch'];

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

type AddRoute = <
  const A extends Access,
  R extends Responses,
  P extends TSchema = TSchema,
  Q extends TSchema = TSchema,
  B extends TSchema = TSchema,
  Idempotent extends boolean = false,
>(
  url: string,
  route: Route<A, P, Q, B, R, Idempotent>,
) => void;

/** Any route, whatever its types: what its handler may rely on, the validation of its schemas has made true. */
interface UntypedRoute extends RouteSettings<Access> {
  readonly schema: { readonly response: Responses };
  readonly idempotent?: boolean;
  readonly location?: (body: never) => string;
  readonly handler: (call: never) => unknown;
}

interface UntypedEvents extends RouteSettings<Access> {
  readonly schema: object;
  readonly events: TUnion;
  readonly handler: (call: never) => unknown;
}

export interface RoutesContext {
  readonly db: Database;
  readonly idempotency: Idempotency;
  readonly streams: Streams;
  readonly slots: StreamSlots;
  readonly sessions: Pick<Sessions, 'byCredentials'>;
}

export class Routes {
  readonly #server: HttpServer;
  readonly #context: RoutesContext;
  readonly #tags: string[];

  readonly get: AddRoute = (url, route) => this.#add('GET', url, route);
  readonly post: AddRoute = (url, route) => this.#add('POST', url, route);
  readonly put: AddRoute = (url, route) => this.#add('PUT', url, route);
  readonly patch: AddRoute = (url, route) => this.#add('PATCH', url, route);
  readonly delete: AddRoute = (url, route) => this.#add('DELETE', url, route);

  constructor(server: HttpServer, context: RoutesContext, tags: string[] = []) {
    this.#server = server;
    this.#context = context;
    this.#tags = tags;
  }

  /** The same under a heading of the document. */
  tagged(tag: string): Routes {
    return new Routes(this.#server, this.#context, [tag]);
  }

  /** For routes that need parsers of their own: what is changed on this server holds for them alone. */
  encapsulate(declare: (server: HttpServer, routes: Routes) => void): void {
    void this.#server.register(async (server) =>
      declare(server, new Routes(server, this.#context, this.#tags)),
    );
  }

  /** A feed of the event log: it can be taken up again where it was left. */
  stream<
    const A extends Access,
    P extends TSchema = TSchema,
    Q extends TSchema = TSchema,
    B extends TSchema = TSchema,
  >(url: string, route: EventsRoute<A, P, Q, B, StreamRequest>): void {
    const handler = route.handler as (call: RequestCall) => StreamRequest | Promise<StreamRequest>;
    const settings = { ...settingsOf(route), isFeed: true };
    this.#register('GET', url, eventsSchema(route, true), settings, async (request, reply) => {
      this.#context.slots.take(request, reply);
      const wanted = await handler(new RequestCall(request, reply));
      await this.#context.streams.open(request, reply, wanted);
    });
  }

  /** What happens now, told as it happens; nothing of it is kept. */
  live<
    const A extends Access,
    P extends TSchema = TSchema,
    Q extends TSchema = TSchema,
    B extends TSchema = TSchema,
  >(method: 'GET' | 'POST', url: string, route: EventsRoute<A, P, Q, B, LiveEvents>): void {
    const handler = route.handler as (call: RequestCall) => LiveEvents | Promise<LiveEvents>;
    this.#register(method, url, eventsSchema(route, false), settingsOf(route), async (request, reply) => {
      this.#context.slots.take(request, reply);
      const events = await handler(new RequestCall(request, reply));
      const tell = () => sendLive(request, reply, this.#context, events);
      await (noteOf(request)?.during(tell) ?? tell());
    });
  }

  /** Whoever opens one is written down before it carries a byte. */
  tunnel<const A extends Access, P extends TSchema = TSchema>(url: string, route: TunnelRoute<A, P>): void {
    const handler = route.handler as (call: RequestCall) => Promise<ByteStream>;
    const schema = { ...route.schema, hide: true };
    this.#register('GET', url, schema, settingsOf(route), async (request, reply) => {
      requireTunnel(request, reply);
      this.#context.slots.take(request, reply);
      const stream = await handler(new RequestCall(request, reply));
      const note = noteOf(request);
      if (note)
        await this.#context.db.transaction(note.write).catch((error) => {
          stream.stdout.destroy();
          throw error;
        });
      await openTunnel(request, reply, this.#context, stream);
    });
  }

  #add(method: Method, url: string, route: UntypedRoute): void {
    const { schema, idempotent = false, faults = [] } = route;
    const settings = {
      ...settingsOf(route),
      faults: idempotent ? [...idempotencyFaults, ...faults] : faults,
      idempotent,
    };
    const run = idempotent ? this.#idempotently(route) : this.#noting(plainly(route));
    this.#register(method, url, schema, settings, run);
  }

  /** The first change that it makes is written down with who made it; so is whoever is handed secrets, before they are. */
  #noting(answerOf: AnswerOf): Run {
    return async (request, reply) => {
      const note = noteOf(request);
      const work = () => answerOf(request, reply);
      const answer = await (note ? note.during(work) : work());
      if (note && request.method === 'GET')
        await this.#context.db.transaction(note.write).catch((error) => {
          if (answer.body instanceof Readable) answer.body.destroy();
          throw error;
        });
      send(reply, answer);
    };
  }

  #idempotently(route: UntypedRoute): Run {
    const handler = route.handler as (call: RequestCall & Idempotently) => Promise<Answer<unknown>>;
    return async (request, reply) => {
      const call = new RequestCall(request, reply);
      const { workspaceId } = call.scope;
      const answer = await this.#context.idempotency.once(workspaceId, request, (saveResponse) => {
        const note = noteOf(request);
        const save: SaveResponse = (tx, made) => {
          note?.hasMade(made.body);
          return saveResponse(tx, made);
        };
        const work = () => handler(Object.assign(call, { saveResponse: save }));
        return note ? note.during(work) : work();
      });
      send(reply, answer);
    };
  }

  #register(
    method: Method,
    url: string,
    schema: object,
    { options, ...config }: RouteSettings<Access> & Pick<FastifyContextConfig, 'idempotent' | 'isFeed'>,
    run: Run,
  ): void {
    this.#server.route({
      ...options,
      method,
      url,
      config,
      schema: { tags: this.#tags, ...schema },
      handler: async (request, reply) => {
        await run(request, reply);
        return reply;
      },
    });
  }
}

type Run = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

type AnswerOf = (request: FastifyRequest, reply: FastifyReply) => Promise<Answer<unknown>>;

function plainly({ schema, location, handler }: UntypedRoute): AnswerOf {
  const statuses = Object.keys(schema.response).map(Number);
  const [status, ...others] = statuses;
  if (status === undefined) throw new Error('a route declares no answer');
  const bodyOf = handler as (call: RequestCall) => unknown;
  if (others.length > 0) {
    const answerOf = handler as (call: RequestCall) => Answer<unknown> | Promise<Answer<unknown>>;
    return async (request, reply) => answerOf(new RequestCall(request, reply));
  }
  const locationOf = location as ((body: unknown) => string) | undefined;
  const isEmpty = Object(schema.response[status]).type === 'null';
  return async (request, reply) => {
    const body = await bodyOf(new RequestCall(request, reply));
    const where = locationOf?.(body);
    return { status, body: isEmpty ? null : body, ...(where !== undefined && { location: where }) };
  };
}

function send(reply: FastifyReply, { status, location, body }: Answer<unknown>): void {
  if (location !== undefined) reply.header('location', location);
  // No bytes at all: `null` would be some.
  if (body === null && status !== 204) reply.serializer(() => '');
  reply.code(status).send(body);
}

function eventsSchema({ schema, events }: UntypedEvents, isFeed: boolean): object {
  return { ...schema, response: streamAnswers(events, isFeed) };
}

/** What remains for Fastify once our own parts are taken out. */
function settingsOf<T extends RouteSettings<Access>>(route: T): RouteSettings<Access> {
  const { access, faults, limit, signInLimit, rawBody, options } = route;
  return {
    access,
    ...(faults && { faults }),
    ...(limit && { limit }),
    ...(signInLimit && { signInLimit }),
    ...(rawBody && { rawBody }),
    ...(options && { options }),
  };
}
