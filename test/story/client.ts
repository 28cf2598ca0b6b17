/**
 * A client made from `openapi.json`: it knows the operations by their ids, refuses to send what the document does not
 * describe, and refuses to take an answer that is not as described. What it has called is remembered.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { root } from '../../scripts/commands.ts';
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
}

interface Described {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly pointer: string;
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly takes: readonly string[];
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;
}

export class StoryClient {
  token = '';
  readonly called = new Set<string>();
  readonly #url: string;
  readonly #ajv: Ajv2020;
  readonly #operations = new Map<string, Described>();

  constructor(url: string) {
    this.#url = url;
    const document = JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8'));
    this.#ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats.default(this.#ajv);
    this.#ajv.addSchema(document, 'openapi');
    for (const [path, methods] of Object.entries<Record<string, Body>>(document.paths)) {
      for (const [method, described] of Object.entries(methods)) {
        const { operationId, parameters = [], requestBody, responses } = Object(described);
        const pointer = `openapi#/paths/${path.replaceAll('~', '~0').replaceAll('/', '~1')}/${method}`;
        const takes = Object.keys(Object(Object(requestBody).content));
        const upper = method.toUpperCase();
        this.#operations.set(operationId, {
          operationId,
          method: upper,
          path,
          pointer,
          parameters,
          takes,
          responses,
        });
      }
    }
  }

  get operations(): ReadonlyMap<string, { readonly method: string; readonly path: string }> {
    return this.#operations;
  }

  async call(operationId: string, wish: Wish = {}): Promise<Body> {
    const { described, url, init } = this.#request(operationId, wish);
    const answer = await fetch(url, init);
    const text = await answer.text();
    const type = answer.headers.get('content-type') ?? '';
    const shown = `${operationId}: ${answer.status} ${text.slice(0, 1_000)}`;
    if (wish.status === undefined) assert.ok(answer.ok, shown);
    else assert.equal(answer.status, wish.status, shown);
    assert.ok(String(answer.status) in described.responses, `${shown}: the document has no such answer`);
    if (!type.includes('json')) return { text };
    const body: Body = JSON.parse(text);
    this.#check(
      `${described.pointer}/responses/${answer.status}/content/${type.split(';')[0]?.replace('/', '~1')}/schema`,
      body,
      shown,
    );
    return body;
  }

  /** The events of a stream to its end, or until `isEnough`. */
  async follow(
    operationId: string,
    wish: Wish = {},
    isEnough?: (event: ReadEvent) => boolean,
  ): Promise<ReadEvent[]> {
    const { url, sent } = this.#request(operationId, wish);
    const stream = await openStream(url, {
      token: this.token,
      ...(typeof sent === 'string' && { post: sent }),
    });
    assert.equal(stream.status, 200, stream.body);
    const events: ReadEvent[] = [];
    for await (const event of stream.events()) {
      events.push(event);
      if (isEnough?.(event)) break;
    }
    return events;
  }

  #request(operationId: string, { path = {}, query = {}, body, file }: Wish) {
    const described = this.#operations.get(operationId);
    assert.ok(described, `the document has no operation ${operationId}`);
    this.called.add(operationId);
    const known = (place: string) =>
      described.parameters.filter((each) => each.in === place).map(({ name }) => name);
    for (const name of Object.keys(query))
      assert.ok(known('query').includes(name), `${operationId} has no ?${name}`);
    const filled = described.path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = path[name];
      assert.ok(value, `${operationId} needs ${name}`);
      return encodeURIComponent(value);
    });
    const search = new URLSearchParams(query).toString();
    if (body !== undefined) {
      assert.ok(described.takes.includes('application/json'), `${operationId} takes no JSON`);
      this.#check(
        `${described.pointer}/requestBody/content/application~1json/schema`,
        body,
        `what ${operationId} was sent`,
      );
    }
    const form = new FormData();
    if (file) {
      assert.ok(described.takes.includes('multipart/form-data'), `${operationId} takes no file`);
      form.set(file.field, new Blob([file.content]), file.name);
    }
    const sent = file ? form : body === undefined ? undefined : JSON.stringify(body);
    const init = {
      method: described.method,
      headers: {
        ...(this.token && { authorization: `Bearer ${this.token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(sent !== undefined && { body: sent }),
    };
    return { described, sent, url: `${this.#url}${filled}${search && `?${search}`}`, init };
  }

  #check(pointer: string, value: unknown, shown: string): void {
    const validate = this.#ajv.getSchema(pointer);
    assert.ok(validate, `the document describes no ${pointer}`);
    assert.ok(validate(value), `${shown}\nis not as described: ${this.#ajv.errorsText(validate.errors)}`);
  }
}
