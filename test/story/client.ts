/**
 * A client made from `openapi.json`: it knows the operations by their ids, refuses to send what the document does not
 * describe, and refuses to take an answer that is not as described. What it has called is remembered.
 */
import assert from 'node:assert/strict';
import { apiDocument, type DescribedOperation } from '../support/document.ts';
import { openStream, type ReadEvent } from '../support/sse.ts';

export type Body = Record<string, unknown>;

export interface Wish {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** A file in a field of a form, instead of a body. */
  readonly file?: { readonly field: string; readonly name: string; readonly content: string };
  /** Anything else is a failure; 2xx if not said. */
  readonly status?: number;
  /** Of somebody else than the one whose story it is. */
  readonly token?: string;
}

export class StoryClient {
  token = '';
  readonly called = new Set<string>();
  readonly #url: string;
  readonly #document = apiDocument();

  constructor(url: string) {
    this.#url = url;
  }

  get operations(): ReadonlyMap<string, DescribedOperation> {
    return this.#document.operations;
  }

  async call(operationId: string, wish: Wish = {}): Promise<Body> {
    const { operation, url, init } = this.#request(operationId, wish);
    const answer = await fetch(url, init);
    const { status, headers } = answer;
    const text = await answer.text();
    const shown = `${operationId}: ${status} ${text.slice(0, 1_000)}`;
    if (wish.status === undefined) assert.ok(answer.ok, shown);
    else assert.equal(status, wish.status, shown);
    this.#document.checkAnswer(operation, { status, headers, text });
    return (headers.get('content-type') ?? '').includes('json') ? JSON.parse(text) : { text };
  }

  /** The events of a stream to its end, or until `isEnough`. */
  async follow(
    operationId: string,
    wish: Wish = {},
    isEnough?: (event: ReadEvent) => boolean,
  ): Promise<ReadEvent[]> {
    const { operation, url, sent } = this.#request(operationId, wish);
    const stream = await openStream(url, {
      token: this.token,
      ...(typeof sent === 'string' && { post: sent }),
    });
    assert.equal(stream.status, 200, stream.body);
    const events: ReadEvent[] = [];
    for await (const event of stream.events()) {
      this.#document.checkEvent(operation, event.data);
      assert.equal(event.event, event.data.kind);
      events.push(event);
      if (isEnough?.(event)) break;
    }
    return events;
  }

  #request(operationId: string, { path = {}, query = {}, body, file, token = this.token }: Wish) {
    const operation = this.#document.operations.get(operationId);
    assert.ok(operation, `the document has no operation ${operationId}`);
    this.called.add(operationId);
    const known = (place: string) =>
      operation.parameters.filter((each) => each.in === place).map(({ name }) => name);
    for (const name of Object.keys(query))
      assert.ok(known('query').includes(name), `${operationId} has no ?${name}`);
    const filled = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = path[name];
      assert.ok(value, `${operationId} needs ${name}`);
      return encodeURIComponent(value);
    });
    const search = new URLSearchParams(query).toString();
    if (body !== undefined) {
      assert.ok(operation.takes.includes('application/json'), `${operationId} takes no JSON`);
      this.#document.checkBody(operation, body);
    }
    const form = new FormData();
    if (file) {
      assert.ok(operation.takes.includes('multipart/form-data'), `${operationId} takes no file`);
      form.set(file.field, new Blob([file.content]), file.name);
    }
    const sent = file ? form : body === undefined ? undefined : JSON.stringify(body);
    const init = {
      method: operation.method,
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(sent !== undefined && { body: sent }),
    };
    return { operation, sent, url: `${this.#url}${filled}${search && `?${search}`}`, init };
  }
}
