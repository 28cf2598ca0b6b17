/** The answer to a request that makes something, stored where the request may be sent twice. */
import type { Queryable } from './database.ts';

export interface Answer<Body> {
  readonly status: number;
  readonly location?: string;
  readonly body: Body;
}

/** Stores the answer; to be called in the transaction that makes the change. */
export type SaveResponse = <Body>(tx: Queryable, answer: Answer<Body>) => Promise<Answer<Body>>;
