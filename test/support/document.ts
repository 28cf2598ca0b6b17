/**
 * `openapi.json` as those read it who believe it: an answer, or an event of a stream, that is not as described fails
 * the test that got it, whatever the test is about.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { root } from '../../scripts/commands.ts';

interface Described {
  readonly description?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, { readonly examples?: Readonly<Record<string, unknown>> }>>;
}

export interface DescribedOperation {
  readonly operationId: string;
  readonly method: string;
  /** As in the document, with `{id}`. */
  readonly path: string;
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  /** The types of its body. */
  readonly takes: readonly string[];
  /** By status, with where each stands. */
  readonly responses: ReadonlyMap<string, { readonly pointer: string; readonly is: Described }>;
}

interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** What the connection, or the framework before any route, answers: described of none, and possible for all. */
const general = [
  ...['bad_request', 'payload_too_large', 'unsupported_media_type', 'headers_too_large'],
  ...['request_timeout', 'shutting_down'],
];

const eventStream = 'text/event-stream';

export class ApiDocument {
  readonly operations: ReadonlyMap<string, DescribedOperation>;
  readonly #document: unknown;
  /** Every process of tests compiles what it needs of it: as little code as possible, and none of it twice. */
  readonly #ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    validateSchema: false,
    inlineRefs: false,
    code: { optimize: false },
  });
  readonly #paths: readonly (readonly [pattern: RegExp, operation: DescribedOperation])[];

  constructor(text = readFileSync(join(root, 'openapi.json'), 'utf8')) {
    const document = JSON.parse(text);
    this.#document = document;
    addFormats.default(this.#ajv);
    this.#ajv.addSchema(document, 'openapi');
    const all = Object.entries<object>(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, is]) => this.#operation(path, method, Object(is))),
    );
    this.operations = new Map(all.map((each) => [each.operationId, each]));
    // A fixed path goes before one with a place for an id.
    const ordered = all.toSorted((one, other) => places(one.path) - places(other.path));
    this.#paths = ordered.map((each) => [
      new RegExp(`^${each.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      each,
    ]);
  }

  find(method: string, path: string): DescribedOperation | undefined {
    const [bare = ''] = path.split('?');
    return this.#paths.find(([pattern, each]) => pattern.test(bare) && each.method === method)?.[1];
  }

  /** Whether a whole answer is as described; that of a stream is one event after the other. */
  checkAnswer(operation: DescribedOperation, { status, headers, text }: Received): void {
    const shown = `${operation.operationId}: ${status} ${text.slice(0, 1_000)}`;
    const [type = ''] = (headers.get('content-type') ?? '').split(';');
    const isProblem = type === 'application/problem+json';
    const { code = '', detail = '' } = isProblem ? Object(JSON.parse(text)) : {};
    // Where the settings keep a path off an address, nobody's operation has answered.
    if (general.includes(code) || detail === 'There is nothing at this path.') return;
    const response = operation.responses.get(String(status));
    assert.ok(response, `${shown}: the document has no such answer`);
    const { pointer, is } = response;
    for (const [name, header] of Object.entries(is.headers ?? {})) {
      const { required } = Object(this.#resolve(header, '').is);
      assert.ok(!required || headers.has(name), `${shown}: the document promises the header ${name}`);
    }
    if (text === '') return;
    const content = is.content?.[type];
    assert.ok(content, `${shown}: the document has no ${type} in this answer`);
    if (isProblem)
      assert.ok(code in (content.examples ?? {}), `${shown}: the document has no such code here`);
    if (/[/+]json$/.test(type))
      this.#check(`${pointer}/content/${escaped(type)}/schema`, JSON.parse(text), shown);
  }

  checkBody({ method, path, operationId }: DescribedOperation, body: unknown): void {
    const pointer = `/paths/${escaped(path)}/${method.toLowerCase()}/requestBody`;
    this.#check(`${pointer}/content/application~1json/schema`, body, `what ${operationId} was sent`);
  }

  checkEvent({ operationId, responses }: DescribedOperation, data: unknown): void {
    const pointer = `${responses.get('200')?.pointer}/content/${escaped(eventStream)}/schema`;
    this.#check(pointer, data, `an event of ${operationId}: ${JSON.stringify(data).slice(0, 1_000)}`);
  }

  #check(pointer: string, value: unknown, shown: string): void {
    const validate = this.#ajv.getSchema(`openapi#${pointer}`);
    assert.ok(validate, `the document describes no ${pointer}`);
    const isValid = validate(value);
    assert.ok(isValid, `${shown}\nis not as described: ${this.#ajv.errorsText(validate.errors)}`);
  }

  #operation(path: string, method: string, described: Record<string, unknown>): DescribedOperation {
    const { operationId, parameters = [], requestBody, responses } = described;
    const pointer = `/paths/${escaped(path)}/${method}/responses`;
    return {
      operationId: String(operationId),
      method: method.toUpperCase(),
      path,
      parameters: Array.from<object>(Object(parameters)).map((each) => Object(this.#resolve(each, '').is)),
      takes: Object.keys(Object(Object(requestBody).content)),
      responses: new Map(
        Object.entries(Object(responses)).map(([status, each]) => [
          status,
          this.#resolve(each, `${pointer}/${status}`),
        ]),
      ),
    };
  }

  /** What stands there, or what it refers to, and where that is. */
  #resolve(value: unknown, pointer: string): { readonly pointer: string; readonly is: Described } {
    const { $ref } = Object(value);
    if (typeof $ref !== 'string') return { pointer, is: Object(value) };
    const found = $ref
      .split('/')
      .slice(1)
      .reduce<unknown>((at, name) => Object(at)[name], this.#document);
    assert.ok(found, `${$ref} leads nowhere`);
    return { pointer: $ref.slice(1), is: Object(found) };
  }
}

function places(path: string): number {
  return path.split('{').length;
}

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

let document: ApiDocument | undefined;

/** Read when the first answer comes: some tests never get one. */
export function apiDocument(): ApiDocument {
  document ??= new ApiDocument();
  return document;
}
