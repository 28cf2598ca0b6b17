/**
 * The whole surface of the API, read from the document that a test holds against the routes: whoever adds a route is attacked
 * without anyone remembering it. Bodies are made from the examples of the schemas.
 */
import { readFileSync } from 'node:fs';
import { root } from '../../scripts/commands.ts';

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly const?: Json;
  readonly enum?: readonly Json[];
  readonly default?: Json;
  readonly examples?: readonly Json[];
  readonly format?: string;
}

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: Schema;
}

export interface Operation {
  readonly name: string;
  readonly method: string;
  /** As in the document. */
  readonly path: string;
  readonly isPublic: boolean;
  /** What it takes of a role in the workspace; `account` where no workspace is asked for. */
  readonly permission: string;
  /** What asks for a fresh proof: every call, or by field these values of the body. */
  readonly fresh: true | Readonly<Record<string, readonly Json[]>> | undefined;
  readonly inPath: readonly string[];
  readonly inQuery: readonly string[];
  readonly isStream: boolean;
  readonly isUpload: boolean;
  /** Where it takes JSON: with every field of every alternative at once, so that every field is attacked. */
  readonly example: Json | undefined;
  /** Where it takes JSON: as a client would send it, with what is required of each alternative and nothing else. */
  readonly least: readonly Json[];
}

interface Described {
  readonly operationId?: string;
  readonly security?: readonly object[];
  readonly 'x-permission'?: string;
  readonly 'x-fresh-proof'?: Operation['fresh'];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> };
  readonly responses?: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;
}

export function committedDocument() {
  return Object(JSON.parse(readFileSync(`${root}openapi.json`, 'utf8')));
}

let surface: Operation[] | undefined;

export function surfaceOf(): Operation[] {
  surface ??= readSurface();
  return surface;
}

function readSurface(): Operation[] {
  const document = committedDocument();
  const schemas: Readonly<Record<string, Schema>> = Object(document.components).schemas;
  const shared: Readonly<Record<string, Parameter>> = Object(document.components).parameters ?? {};
  const general: readonly object[] = document.security ?? [];
  const found: Operation[] = [];
  for (const [path, methods] of Object.entries<Record<string, Described>>(document.paths)) {
    for (const [method, described] of Object.entries(methods)) {
      const {
        operationId = '',
        parameters = [],
        requestBody,
        responses = {},
        security = general,
      } = described;
      const content = requestBody?.content ?? {};
      const schema = content['application/json']?.schema;
      const named = (place: string) =>
        parameters
          .map((each) => shared[each.$ref?.split('/').at(-1) ?? ''] ?? each)
          .filter((each) => each.in === place)
          .map(({ name }) => name);
      found.push({
        name: operationId || `${method} ${path}`,
        method: method.toUpperCase(),
        path,
        isPublic: security.length === 0 || security.some((each) => Object.keys(each).length === 0),
        permission: described['x-permission'] ?? '',
        fresh: described['x-fresh-proof'],
        inPath: named('path'),
        inQuery: named('query'),
        isStream: Object.values(responses).some(
          ({ content: kinds }) => kinds && 'text/event-stream' in kinds,
        ),
        isUpload: 'multipart/form-data' in content || 'application/gzip' in content,
        example: schema && exampleOf(schema, schemas, everything),
        least: schema ? leastOf(schema, schemas) : [],
      });
    }
  }
  return found;
}

/** Some bodies need any one field: each is there once beside what is required. */
function leastOf(schema: Schema, schemas: Readonly<Record<string, Schema>>): Json[] {
  const least = [0, 1, 2, 3].map((which) => exampleOf(schema, schemas, which));
  const all = exampleOf(schema, schemas, everything);
  const [first = null] = least;
  if (!isObject(first) || !isObject(all)) return least;
  const more = Object.entries(all).filter(([key]) => !(key in first));
  return [...least, ...more.map(([key, value]) => ({ ...first, [key]: value }))];
}

/** The path with ids put in, below the root of the instance. */
export function pathWith(operation: Operation, ids: Readonly<Record<string, string>>): string {
  const filled = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const id = ids[name] ?? ids.id ?? '';
    return encodeURIComponent(id.toWellFormed());
  });
  return `/${filled}`;
}

const everything = 'everything';

/** Of alternatives the one that is asked for, and what is required; or everything, which is refused as a whole at worst. */
function exampleOf(
  schema: Schema,
  schemas: Readonly<Record<string, Schema>>,
  which: number | typeof everything,
  depth = 0,
): Json {
  const inner = (each: Schema) => exampleOf(each, schemas, which, depth + 1);
  if (depth > 8) return null;
  if (schema.$ref !== undefined) {
    const known = schemas[schema.$ref.split('/').at(-1) ?? ''];
    return known ? inner(known) : null;
  }
  const [first] = schema.examples ?? [];
  if (first !== undefined && !schema.properties) return first;
  if (schema.const !== undefined) return schema.const;
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) {
    const made = choices.map(inner);
    const objects = made.filter(isObject);
    if (objects.length < 2) return made.find((each) => each !== null) ?? null;
    return which === everything ? Object.assign({}, ...objects) : (objects[which % objects.length] ?? null);
  }
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map(inner));
  if (schema.enum?.[0] !== undefined) return schema.enum[0];
  if (schema.default !== undefined) return schema.default;
  if (schema.properties) {
    const required = new Set(schema.required ?? []);
    const entries = Object.entries(schema.properties).filter(
      ([key]) => which === everything || required.has(key),
    );
    return Object.fromEntries(entries.map(([key, each]) => [key, inner(each)]));
  }
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === 'array') return schema.items ? [inner(schema.items)] : [];
  if (type === 'object') return {};
  if (type === 'integer' || type === 'number') return 1;
  if (type === 'boolean') return true;
  return type === 'null' ? null : 'text';
}

export function isObject(value: Json): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The places of all values in it that are not objects or lists themselves. */
export function leavesOf(
  value: Json,
  at: readonly (string | number)[] = [],
): (readonly (string | number)[])[] {
  if (Array.isArray(value)) return value.flatMap((each, index) => leavesOf(each, [...at, index]));
  if (isObject(value)) return Object.entries(value).flatMap(([key, each]) => leavesOf(each, [...at, key]));
  return [at];
}

export function valueAt(value: Json, at: readonly (string | number)[]): Json | undefined {
  let found: Json | undefined = value;
  for (const key of at) found = Object(found)[key];
  return found;
}

export function withValue(value: Json, at: readonly (string | number)[], put: Json): Json {
  const [key, ...rest] = at;
  if (key === undefined) return put;
  if (Array.isArray(value))
    return value.map((each, index) => (index === key ? withValue(each, rest, put) : each));
  if (!isObject(value)) return value;
  return { ...value, [key]: withValue(value[key] ?? null, rest, put) };
}
