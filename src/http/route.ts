/** What a route is declared as, and what its handler is given: all types follow from the declared schemas. */
import type { FastifyContextConfig, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify';
import type Type from 'typebox';
import type { TSchema, TUnion } from 'typebox';
import type { Principal } from '../principal.ts';
import type { Answer, SaveResponse } from '../store/answer.ts';
import type { Access } from './access.ts';
import { principalOf, type Scope, scopeOf } from './scope.ts';
import type { ByteStream } from './tunnels.ts';

/** A schema, or a description of what is written past the serialiser. */
type ResponseSchema =
  | TSchema
  | {
      readonly description: string;
      readonly content: Readonly<Record<string, { readonly schema: TSchema }>>;
    };
export type Responses = Readonly<Record<number, ResponseSchema>>;

/** What is sent is only read: an answer may be made of values that nobody may change. */
type Sent<T> = T extends readonly (infer Element)[]
  ? readonly Sent<Element>[]
  : T extends object
    ? { readonly [Key in keyof T]: Sent<T[Key]> }
    : T;

type ContentOf<R> = R extends { content: Readonly<Record<string, { schema: infer S extends TSchema }>> }
  ? Type.Static<S>
  : R extends TSchema
    ? Sent<Type.Static<R>>
    : never;

/** Where the declared body is null, whatever the handler returns is not sent. */
type BodyOf<R> = [ContentOf<R>] extends [null] ? unknown : ContentOf<R>;

type IsUnion<T, U = T> = T extends unknown ? ([U] extends [T] ? false : true) : never;

/**
 * A route with one status returns its body. One with several, or one whose answer is stored under an idempotency key,
 * says which of them it is.
 */
export type Returned<R extends Responses, Idempotent extends boolean> = true extends
  | Idempotent
  | IsUnion<keyof R>
  ? Answer<BodyOf<R[keyof R]>>
  : BodyOf<R[keyof R]>;

export interface Call<A extends Access, P extends TSchema, Q extends TSchema, B extends TSchema> {
  readonly scope: A extends { readonly kind: 'workspace' } ? Scope : never;
  readonly principal: A extends { readonly kind: 'workspace' | 'account' | 'operator' } ? Principal : never;
  readonly params: Type.Static<P>;
  readonly query: Type.Static<Q>;
  readonly body: Type.Static<B>;
  /** Aborted when the client has gone before it was answered. */
  readonly signal: AbortSignal;
  /** For headers and raw bytes; everything else is above. */
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** `saveResponse` stores the answer in the transaction that makes the change. */
export interface Idempotently {
  readonly saveResponse: SaveResponse;
}

interface Documented<P extends TSchema, Q extends TSchema, B extends TSchema> {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly consumes?: string[];
  readonly params?: P;
  readonly querystring?: Q;
  readonly body?: B;
}

export interface RouteSettings<A extends Access>
  extends Pick<FastifyContextConfig, 'faults' | 'limit' | 'signInLimit' | 'rawBody'> {
  readonly access: A;
  /** For the few that read their body themselves. */
  readonly options?: Pick<
    RouteShorthandOptions,
    'bodyLimit' | 'preParsing' | 'preHandler' | 'onError' | 'validatorCompiler'
  >;
}

export interface Route<
  A extends Access,
  P extends TSchema,
  Q extends TSchema,
  B extends TSchema,
  R extends Responses,
  Idempotent extends boolean,
> extends RouteSettings<A> {
  readonly schema: Documented<P, Q, B> & { readonly response: R };
  /** Takes an `Idempotency-Key`: its handler has to store the answer with `saveResponse`. */
  readonly idempotent?: Idempotent;
  /** Where what was made is found, for a route that returns its body. */
  readonly location?: (body: BodyOf<R[keyof R]>) => string;
  readonly handler: (
    call: Call<A, P, Q, B> & (Idempotent extends true ? Idempotently : unknown),
  ) => Returned<R, Idempotent> | Promise<Returned<R, Idempotent>>;
}

/** A route whose answer is a stream of events; `events` says which kinds there are. */
export interface EventsRoute<
  A extends Access,
  P extends TSchema,
  Q extends TSchema,
  B extends TSchema,
  Opened,
> extends RouteSettings<A> {
  readonly schema: Documented<P, Q, B>;
  readonly events: TUnion;
  readonly handler: (call: Call<A, P, Q, B>) => Opened | Promise<Opened>;
}

/** A route that becomes a stream of bytes, both ways. In no document: clients that are made from one cannot ask for it. */
export interface TunnelRoute<A extends Access, P extends TSchema> extends RouteSettings<A> {
  readonly schema: Pick<Documented<P, TSchema, TSchema>, 'operationId' | 'params'>;
  readonly handler: (call: Call<A, P, TSchema, TSchema>) => Promise<ByteStream>;
}

/** What every handler is given: read from the request when it is asked for. */
export class RequestCall {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;

  constructor(request: FastifyRequest, reply: FastifyReply) {
    this.request = request;
    this.reply = reply;
  }

  get scope(): Scope {
    return scopeOf(this.request);
  }

  get principal(): Principal {
    return principalOf(this.request);
  }

  get params(): unknown {
    return this.request.params;
  }

  get query(): unknown {
    return this.request.query;
  }

  get body(): unknown {
    return this.request.body;
  }

  get signal(): AbortSignal {
    const gone = new AbortController();
    // Of the answer: the request is closed as soon as it has been read.
    this.reply.raw.once('close', () => gone.abort(new Error('the client has gone')));
    return gone.signal;
  }
}
