/** Requests to servers of others. Adapters are handed the function, and reach the network by no other way. */
export interface OutboundRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A stream is sent as it comes; with `content-length` among the headers it is sent with that length. */
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array> | null;
  readonly signal?: AbortSignal | null;
  /** Until the headers of the answer are there; the request's own body is sent in this time too. */
  readonly headersTimeoutMs?: number;
  readonly bodyTimeoutMs?: number;
  /** An answer that is larger is broken off. */
  readonly maxBodyBytes?: number;
}

/** Gives the answer as it is, whatever its status; follows no redirect. */
export type OutboundFetch = (url: string, request: OutboundRequest) => Promise<Response>;
