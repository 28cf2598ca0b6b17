/**
 * The finished OpenAPI document, for people and for those who generate clients from it: what several operations share
 * stands once under `components` and is referred to. Schemas are named by their titles, error answers by their codes.
 */
import { problemType } from '../../src/http/problem.ts';

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

interface Reference {
  $ref: string;
}

interface Parameter {
  name: string;
}

interface Answer {
  description: string;
  headers?: Record<string, Reference>;
  content?: Record<string, { examples?: Record<string, Json> }>;
}

interface Operation {
  'x-permission': string;
  parameters?: (Parameter | Reference)[];
  responses: Record<string, Answer | Reference>;
}

interface Made {
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, unknown>;
}

const headers = {
  Location: {
    description: 'Where what was made or begun is found.',
    required: true,
    schema: { type: 'string', format: 'uri-reference' },
    example: '/api/v1/operations/01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b',
  },
  RateLimit: {
    description: 'How many requests remain (`r`), and in how many seconds the count begins anew (`t`).',
    required: true,
    schema: { type: 'string' },
    example: '"requests";r=299;t=60',
  },
  'RateLimit-Policy': {
    description: 'The limit that is nearest: its name, how many requests (`q`) in how many seconds (`w`).',
    required: true,
    schema: { type: 'string' },
    example: '"requests";q=300;w=60',
  },
  'Retry-After': {
    description: 'In how many seconds to try again.',
    schema: { type: 'integer', minimum: 0 },
    example: 5,
  },
  'WWW-Authenticate': {
    description: 'How to say who you are.',
    required: true,
    schema: { type: 'string' },
    example: 'Bearer realm="slipway"',
  },
} as const;

type HeaderName = keyof typeof headers;

export function openApiDocument(app: { swagger(): unknown }): object {
  const made: Made = JSON.parse(JSON.stringify(app.swagger()));
  const operations = Object.values(made.paths).flatMap((methods) => Object.values(methods));
  const parameters: Place<Parameter>[] = [];
  const failures: Place<Answer>[] = [];
  const examples = new Map<string, Json>();
  for (const operation of operations) {
    const { parameters: taken = [], responses } = operation;
    for (const [at, value] of taken.entries())
      if (!isReference(value)) parameters.push({ value, put: (shared) => taken.splice(at, 1, shared) });
    for (const [status, value] of Object.entries(responses)) {
      if (isReference(value)) continue;
      const told = headersOf(operation, status, value);
      if (told.length > 0)
        value.headers = Object.fromEntries(told.map((name) => [name, referenceTo('headers', name)]));
      const problem = value.content?.[problemType];
      if (problem === undefined) continue;
      for (const [code, example] of Object.entries(problem.examples ?? {})) examples.set(code, example);
      problem.examples = Object.fromEntries(
        codesOf(value).map((code) => [code, { ...referenceTo('examples', code) }]),
      );
      failures.push({
        value,
        put: (shared) => {
          responses[status] = shared;
        },
      });
    }
  }
  const components = {
    ...made.components,
    headers,
    parameters: share('parameters', parameters, ({ name }) => pascal(name)),
    responses: share('responses', failures, (answer) => codesOf(answer).map(pascal).join('Or')),
    examples: sorted(examples),
  };
  const schemas = new Map<string, Json>();
  const hoisted = hoist(JSON.parse(JSON.stringify({ ...made, components })), schemas);
  if (!isObject(hoisted) || !isObject(hoisted.components))
    throw new TypeError('the OpenAPI document is not an object');
  return { ...hoisted, components: { ...hoisted.components, schemas: sorted(schemas) } };
}

/** What an answer of this status tells beside its body. */
function headersOf(operation: Operation, status: string, answer: Answer): HeaderName[] {
  const permission = operation['x-permission'];
  const isCounted = permission !== 'probe' && permission !== 'monitor';
  const isOfWorkspace = isCounted && permission !== 'public' && permission !== 'account';
  const isMade = (status === '201' || status === '202') && answer.content !== undefined;
  const names: HeaderName[] = [];
  if (isMade && isOfWorkspace) names.push('Location');
  if (isCounted && (status.startsWith('2') || status === '429')) names.push('RateLimit', 'RateLimit-Policy');
  if (status === '401') names.push('WWW-Authenticate');
  if (['429', '503'].includes(status) || codesOf(answer).includes('idempotency_in_progress'))
    names.push('Retry-After');
  return names;
}

function codesOf({ content }: Answer): string[] {
  return Object.keys(content?.[problemType]?.examples ?? {});
}

interface Place<T> {
  readonly value: T;
  readonly put: (reference: Reference) => void;
}

/** What is used more than once gets its name, and a reference in all of its places. Of two by one name, the rarer stays. */
function share<T>(
  kind: string,
  places: readonly Place<T>[],
  nameOf: (value: T) => string,
): Record<string, T> {
  const shared = new Map<string, T>();
  const uses = [...Map.groupBy(places, ({ value }) => JSON.stringify(value)).values()];
  for (const same of uses.sort((one, other) => other.length - one.length)) {
    const [first, second] = same;
    if (first === undefined || second === undefined) continue;
    const name = nameOf(first.value);
    if (shared.has(name)) continue;
    shared.set(name, first.value);
    for (const { put } of same) put(referenceTo(kind, name));
  }
  return sorted(shared);
}

/** Each schema with a title stands once under `components`. */
function hoist(value: Json, schemas: Map<string, Json>, key = ''): Json {
  if (Array.isArray(value)) return value.map((each) => hoist(each, schemas));
  if (!isObject(value)) return value;
  const inner = Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      name === 'examples' ? each : hoist(each, schemas, name),
    ]),
  );
  const { enum: values } = inner;
  if (Array.isArray(values)) {
    // What says nothing of its type is read as anything by some generators; one value alone has a word of its own.
    if (values.every((each) => typeof each === 'string')) inner.type ??= 'string';
    if (values.length === 1) {
      inner.const = values[0] ?? null;
      delete inner.enum;
    }
  }
  const { title } = value;
  if (typeof title !== 'string' || key === 'info' || !isSchema(inner)) return inner;
  const known = schemas.get(title);
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(inner)) {
    throw new Error(`two different schemas have the title ${title}`);
  }
  schemas.set(title, inner);
  return { ...referenceTo('schemas', title) };
}

function isSchema(value: { [key: string]: Json }): boolean {
  return ['type', 'anyOf', 'allOf'].some((keyword) => keyword in value);
}

function referenceTo(kind: string, name: string): Reference {
  return { $ref: `#/components/${kind}/${name}` };
}

function isReference(value: object): value is Reference {
  return '$ref' in value;
}

function sorted<T>(named: ReadonlyMap<string, T>): Record<string, T> {
  return Object.fromEntries([...named].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** `rate_limited`, `Idempotency-Key` and `projectId`: `RateLimited`, `IdempotencyKey`, `ProjectId`. */
function pascal(name: string): string {
  return name.replaceAll(/(?:^|[_-])([a-z])/gi, (_, letter: string) => letter.toUpperCase());
}

function isObject(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
