/** What goes with every call, and what a call can take or give beside JSON. */

export interface CallOptions {
  /** Ends the call, or the stream. */
  readonly signal?: AbortSignal | undefined;
  /** The workspace to work in; else that of the client. */
  readonly workspace?: string | undefined;
  /** For work that another call may have begun; else each call makes a key of its own. */
  readonly idempotencyKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Sees the answer before it is read: its status and headers. */
  readonly onAnswer?: ((answer: Response) => void) | undefined;
  /** Of a stream: whether it is connected at the moment. */
  readonly onConnection?: ((isConnected: boolean) => void) | undefined;
}

/** A body that is sent as it is. A stream can be sent once, so such a call is never tried again. */
export type Bytes = Blob | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

/** Events as they come. Where it was left, a second `for await` goes on. */
export interface EventStream<Event> extends AsyncIterable<Event> {
  /** Of the newest event that was read; with `after` another stream begins behind it. */
  readonly lastEventId: string | undefined;
}

/** An operation of the table. */
export interface Operation {
  readonly name: string;
  readonly method: string;
  /** With `{id}` where an input goes. */
  readonly path: string;
  /**
   * `a` asks who calls, `w` takes a workspace, `k` takes an Idempotency-Key, `j` takes JSON, `f` a form, `b` answers with
   * bytes, `e` with events that can be resumed, `l` with live ones.
   */
  readonly marks: string;
  /** Of a body that is bytes. */
  readonly bytesType: string | undefined;
}

export type Input = Readonly<Record<string, unknown>>;
