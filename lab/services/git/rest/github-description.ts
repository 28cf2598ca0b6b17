/** GitHub's own description of its API, for tests: holds an answer or a webhook against it. Large; loaded once. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';

type Node = Readonly<Record<string, unknown>>;

const file = '@octokit/openapi/generated/api.github.com.json';
let loaded: Node | undefined;

function description(): Node {
  loaded ??= asNode(JSON.parse(readFileSync(createRequire(import.meta.url).resolve(file), 'utf8')));
  return loaded;
}

/** Fails with what is wrong, if the answer is not what the operation's description promises for this status. */
export function assertAnswer(method: string, path: string, status: number, body: unknown): void {
  const operation = follow(find(description(), 'paths', path, method.toLowerCase()));
  const response = follow(find(operation, 'responses', String(status)));
  const content = response.content === undefined ? {} : asNode(response.content);
  const described = content['application/json'];
  const what = `${method} ${path} ${status}`;
  if (described === undefined) assert.equal(body, undefined, `${what} has no body`);
  else assertSchema(find(asNode(described), 'schema'), body, what);
}

export function assertWebhook(event: string, payload: unknown): void {
  assertSchema({ $ref: `#/components/schemas/webhook-${event}` }, payload, `the webhook ${event}`);
}

export function operationId(method: string, path: string): unknown {
  return follow(find(description(), 'paths', path, method.toLowerCase())).operationId;
}

const compiled = new Map<string, ReturnType<Ajv['compile']>>();

function assertSchema(schema: Node, value: unknown, what: string): void {
  const key = JSON.stringify(schema);
  let validate = compiled.get(key);
  if (!validate) {
    const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: true });
    addFormats.default(ajv);
    for (const name of ['int64', 'int32', 'double', 'repo.nwo', 'binary', 'timestamp'])
      ajv.addFormat(name, true);
    const definitions = new Map<string, unknown>();
    const root = translated(schema, definitions);
    validate = ajv.compile({ ...asNode(root), definitions: Object.fromEntries(definitions) });
    compiled.set(key, validate);
  }
  const good = validate(value);
  const errors = validate.errors
    ?.slice(0, 8)
    .map(({ instancePath, message }) => `${instancePath} ${message}`);
  assert.ok(good, `${what} is not as GitHub describes it: ${errors?.join('; ')}`);
}

/** OpenAPI 3.0 says `nullable` where JSON Schema has a type for it. Only what is referred to is brought along. */
function translated(value: unknown, definitions: Map<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((item) => translated(item, definitions));
  if (typeof value !== 'object' || value === null) return value;
  const { nullable, discriminator: _, example: _example, examples: _examples, $ref, ...rest } = asNode(value);
  if (typeof $ref === 'string') {
    const name = $ref.slice('#/components/schemas/'.length);
    if (!definitions.has(name)) {
      // Before its content is known: a schema may refer to itself.
      definitions.set(name, true);
      definitions.set(name, translated(find(description(), 'components', 'schemas', name), definitions));
    }
    return { $ref: `#/definitions/${name}` };
  }
  const entries = Object.entries(rest).map(([key, inner]) => [key, translated(inner, definitions)]);
  const schema: unknown = Object.fromEntries(entries);
  return nullable === true ? { anyOf: [{ type: 'null' }, schema] } : schema;
}

function follow(node: Node): Node {
  if (typeof node.$ref !== 'string') return node;
  return find(description(), ...node.$ref.slice('#/'.length).split('/'));
}

function find(node: Node, ...path: string[]): Node {
  return path.reduce((inside, key) => {
    assert.ok(key in inside, `GitHub's description has no ${path.join(' ')}`);
    return asNode(inside[key]);
  }, node);
}

function asNode(value: unknown): Node {
  assert.ok(typeof value === 'object' && value !== null && !Array.isArray(value));
  return Object.fromEntries(Object.entries(value));
}
