/** Validation of what comes in. Bodies are taken as they are; only query and path texts become numbers. */
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import fastJson, { type AnySchema } from 'fast-json-stringify';
import type { FastifySchemaValidationError } from 'fastify/types/schema.js';
import type { FieldError } from '../fault.ts';
import { ofTheMeantOne } from './alternatives.ts';
import { sentenceOfPattern } from './schemas.ts';

const mostErrors = 20;
/** What a person writes by hand has fewer values; of anything larger, the first error is told alone. */
const mostValuesForAllErrors = 1_000;

const options: Options = { removeAdditional: false, useDefaults: false, strict: true };
const asSent = compiledOnce(refusing(() => checkers({ ...options, coerceTypes: false })));
const fromText = compiledOnce(refusing(() => checkers({ ...options, coerceTypes: true })));
const asText = compiledOnce((schema: AnySchema) => fastJson(withPlainNulls(schema)));

export function validator(part: string | undefined, schema: object) {
  const validate = part === 'body' ? asSent(schema) : fromText(schema);
  const takesNothing = 'properties' in schema && Object.keys(Object(schema.properties)).length === 0;
  return (data: unknown) => {
    // Most reads take no query: there is nothing to hold an empty one against.
    if (takesNothing && Object.keys(Object(data)).length === 0) return true;
    return validate()(data);
  };
}

export function serializer(schema: AnySchema): (data: unknown) => string {
  const serialize = asText(schema);
  return (data) => serialize()(data);
}

/**
 * The serializer would ask a validator which of `anyOf` it has before it, for every value that may be null: most of
 * the time of an answer, and of compiling it. Its own word for that is `nullable`.
 */
function withPlainNulls(schema: AnySchema): AnySchema {
  return JSON.parse(JSON.stringify(schema), (_name, value) => {
    if (!Array.isArray(value?.anyOf) || value.anyOf.length !== 2) return value;
    const { anyOf, ...rest } = value;
    const other = anyOf.find((each: { type?: unknown }) => each.type !== 'null');
    const isPlain =
      typeof other?.type === 'string' && anyOf.some((each: { type?: unknown }) => each.type === 'null');
    return isPlain ? { ...rest, ...other, nullable: true } : value;
  });
}

/**
 * Compiles a schema when it is first needed, because compiling them all would be a fifth of the start; and once for
 * all routes that have the same, as those of refusals are.
 */
function compiledOnce<S extends object, T>(compile: (schema: S) => T): (schema: S) => () => T {
  const made = new Map<string, T>();
  return (schema) => {
    let own: T | undefined;
    const lookUp = (): T => {
      const key = JSON.stringify(schema);
      const found = made.get(key) ?? compile(schema);
      made.set(key, found);
      return found;
    };
    return () => (own ??= lookUp());
  };
}

interface Checkers {
  /** Stops at the first error, and looks at how many there are before it looks at any of them. */
  readonly first: Ajv;
  /** Collects every error, which costs memory and time for each: for small data alone. */
  readonly all: Ajv;
}

function checkers(options: Options): Checkers {
  return {
    first: prepared(new Ajv({ ...options, allErrors: false })),
    all: prepared(new Ajv({ ...options, allErrors: true })),
  };
}

/** Adds what schemas let through: U+0000, which cannot be stored, and `Infinity`, which coercion takes for a number. */
function refusing(checkers: () => Checkers) {
  let made: Checkers | undefined;
  return (schema: object) => {
    made ??= checkers();
    const { first, all } = made;
    const isValid = first.compile(schema);
    let collect: ValidateFunction | undefined;
    return (data: unknown) => {
      if (!isValid(data)) {
        const { errors } = isValid;
        if (valuesOf(data, mostValuesForAllErrors) >= mostValuesForAllErrors) return { error: errors ?? [] };
        collect ??= all.compile(schema);
        collect(data);
        return { error: collect.errors ?? errors ?? [] };
      }
      const found = unusable(data, '');
      return found ? { error: [{ ...found, schemaPath: '', params: {} }] } : { value: data };
    };
  };
}

/** How many values there are, counted up to `most`: nobody walks through what is larger or deeper. */
function valuesOf(value: unknown, most: number): number {
  if (Array.isArray(value) && value.length >= most) return most;
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  // Not `Object.values`, which would make a list of all of them first.
  for (const name in value) {
    if (count >= most) break;
    count += valuesOf(Reflect.get(value, name), most - count);
  }
  return count;
}

function unusable(
  value: unknown,
  instancePath: string,
): Pick<ErrorObject, 'instancePath' | 'keyword' | 'message'> | undefined {
  if (typeof value === 'string' && value.includes('\0'))
    return { instancePath, keyword: 'text', message: 'must not contain U+0000' };
  if (typeof value === 'number' && !Number.isFinite(value))
    return { instancePath, keyword: 'number', message: 'must be a finite number' };
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, each] of Object.entries(value)) {
    const found = unusable(each, `${instancePath}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);
    if (found) return found;
  }
  return undefined;
}

function prepared(ajv: Ajv): Ajv {
  addFormats.default(ajv, ['uuid', 'date-time', 'email', 'uri']);
  // For readers of the document alone.
  ajv.addVocabulary(['x-experimental']);
  return ajv;
}

type Failure = Pick<ErrorObject, 'keyword' | 'params' | 'message'> & { instancePath: string };

export function fieldErrors(failures: readonly FastifySchemaValidationError[], where: string): FieldError[] {
  const seen = new Map<string, FieldError>();
  const meant = ofTheMeantOne(failures);
  // A field can be wrong in two ways. What it should look like says it best, else the first.
  const ordered = [...meant.filter(isPattern), ...meant.filter((each) => !isPattern(each))];
  for (const failure of ordered) {
    const error = fieldError(failure, where);
    if (!seen.has(error.path)) seen.set(error.path, error);
  }
  return [...seen.values()].slice(0, mostErrors);
}

const isPattern = ({ keyword }: Failure) => keyword === 'pattern';

function fieldError(failure: Failure, where: string): FieldError {
  const path = pathOf(failure.instancePath);
  const inside = (name: unknown) => [path, String(name)].filter(Boolean).join('.');
  switch (failure.keyword) {
    case 'required':
      return { path: inside(failure.params.missingProperty), message: 'is required' };
    case 'additionalProperties':
      return {
        path: inside(failure.params.additionalProperty),
        message: where === 'querystring' ? 'is not a known query parameter' : 'is not a known field',
      };
    case 'enum':
      return { path: path || where, message: `must be one of ${list(failure.params.allowedValues)}` };
    case 'minLength':
      return {
        path: path || where,
        message:
          failure.params.limit === 1
            ? 'must not be empty'
            : `must have at least ${failure.params.limit} characters`,
      };
    case 'maxLength':
      return { path: path || where, message: `must have at most ${failure.params.limit} characters` };
    case 'format':
      return { path: path || where, message: formats[String(failure.params.format)] ?? 'is not valid' };
    case 'type':
      if (path === '' && where === 'body') return { path: 'body', message: 'must be a JSON object' };
      return { path: path || where, message: `must be ${typeInWords(failure.params.type)}` };
    case 'pattern':
      return {
        path: path || where,
        message: sentenceOfPattern(String(failure.params.pattern)) ?? 'is not of the form that is needed',
      };
    case 'const':
      return { path: path || where, message: `must be ${JSON.stringify(failure.params.allowedValue)}` };
    case 'minimum':
      return { path: path || where, message: `must be at least ${failure.params.limit}` };
    case 'maximum':
      return { path: path || where, message: `must be at most ${failure.params.limit}` };
    case 'minItems':
      return { path: path || where, message: `must list at least ${failure.params.limit}` };
    case 'maxItems':
      return { path: path || where, message: `must list at most ${failure.params.limit}` };
    case 'minProperties':
      return { path: path || where, message: `must have at least ${failure.params.limit} field` };
    case 'maxProperties':
      return { path: path || where, message: `must have at most ${failure.params.limit} fields` };
    case 'uniqueItems':
      return { path: path || where, message: 'must not list the same twice' };
    default:
      return { path: path || where, message: failure.message ?? 'is not valid' };
  }
}

const formats: Readonly<Record<string, string>> = {
  uuid: 'must be a UUID, such as `01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b`',
  'date-time': 'must be a time with its zone, such as `2026-11-15T09:30:00Z`',
  email: 'must be an e-mail address, such as `ada@example.com`',
  uri: 'must be an address with its scheme, such as `https://example.com/hook`',
};

/** `/variables/0/key` is how the validator says `variables[0].key`. */
function pathOf(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path ? `${path}.${part}` : part), '');
}

function list(values: unknown): string {
  return Array.isArray(values) ? values.join(', ') : String(values);
}

const typeWords: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  integer: 'a whole number',
  null: 'null',
  number: 'a number',
  object: 'an object',
  string: 'a string',
};

function typeInWords(types: unknown): string {
  return [types]
    .flat()
    .map((type) => typeWords[String(type)] ?? String(type))
    .join(' or ');
}
