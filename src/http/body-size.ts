/**
 * How large the body of a call can be, read from its schema: the longest JSON that the schema takes. So a limit is never
 * forgotten, and a schema without an end (a text, a list or a map with no most) does not start.
 */
interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly format?: string;
  readonly contentEncoding?: string;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly maxProperties?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
}

/** A character outside of the first plane, written as two escapes. */
const mostCharacterBytes = 12;
/** Around each value: quotes, comma, colon, and the white space of what was indented. */
const aroundBytes = 32;
const mostKeyCharacters = 256;

const least = 1024;
/** Bodies are held and parsed as a whole: what can be larger than this is cut here. */
const most = 1024 * 1024;

/** For calls that take no body: `{}` is as good as none. */
export const noBodyLimit = least;

export function bodyLimitOf(schema: object): number {
  return Math.min(most, Math.max(least, longest(schema, 'body')));
}

/** The head of a request has a limit of its own; what is read from it has one all the same. */
export function refuseEndless(schema: object, part: string): void {
  longest(schema, part);
}

/** The bytes of the longest JSON that a schema takes; `path` names what has no end. */
function longest(schema: Schema, path: string): number {
  if ('const' in schema) return longestOf([schema.const]);
  if (schema.enum) return longestOf(schema.enum);
  if (schema.anyOf) return Math.max(...schema.anyOf.map((each) => longest(each, path)));
  switch (schema.type) {
    case 'string':
      if (schema.format === 'uuid') return 36 + aroundBytes;
      return bounded(schema.maxLength, path, 'maxLength') * bytesEach(schema) + aroundBytes;
    case 'array':
      return (
        bounded(schema.maxItems, path, 'maxItems') * longest(schema.items ?? {}, `${path}[]`) + aroundBytes
      );
    case 'object':
      return longestObject(schema, path);
    case 'integer':
    case 'number':
    case 'boolean':
    case 'null':
      return aroundBytes;
    default:
      throw new Error(`${path} has no type, so its size has no end`);
  }
}

/** Bytes in base64url are plain letters, and nobody escapes those. */
function bytesEach({ contentEncoding }: Schema): number {
  return contentEncoding === 'base64url' ? 1 : mostCharacterBytes;
}

function longestObject(schema: Schema, path: string): number {
  const { properties = {}, patternProperties = {}, additionalProperties } = schema;
  const fields = Object.entries(properties).map(
    ([name, each]) => name.length + aroundBytes + longest(each, `${path}.${name}`),
  );
  const further = Object.values(patternProperties);
  if (typeof additionalProperties === 'object') further.push(additionalProperties);
  else if (additionalProperties !== false) throw new Error(`${path} takes any field, so its size has no end`);
  const [key = 0] = further.map((each) => mostKeyCharacters + aroundBytes + longest(each, `${path}.*`));
  const count = further.length > 0 ? bounded(schema.maxProperties, path, 'maxProperties') : 0;
  return fields.reduce((sum, each) => sum + each, aroundBytes) + count * key;
}

function longestOf(values: readonly unknown[]): number {
  return Math.max(...values.map((each) => JSON.stringify(each).length)) + aroundBytes;
}

function bounded(bound: number | undefined, path: string, name: string): number {
  if (bound === undefined) throw new Error(`${path} has no ${name}, so its size has no end`);
  return bound;
}
