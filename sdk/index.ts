/**
 * The typed client of Slipway, for browsers and Node, made from its document. It owns how a request is sent: tokens,
 * retries, streams. It knows nothing of the service's code, and needs nothing at run time.
 */
export type { Bytes, CallOptions, EventStream } from './call.ts';
export { all, createClient } from './client.ts';
export type { Operations } from './generated/operations.ts';
export type * from './generated/schemas.ts';
export { ConnectionError, ProblemError } from './problem.ts';
export { ClientSession, type TokenStore, type Tokens } from './session.ts';
export type { ClientOptions } from './transport.ts';
