/**
 * What of the SDK is made from the document of the API: a type for each schema, a signature for each operation, and the
 * table that the calls are made from. Types cost nothing where they run, so they say all that the document says.
 */

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly description?: string;
}

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Schema;
  readonly description?: string;
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
  };
}

export interface SdkSource {
  /** `sdk/generated/schemas.ts` */
  readonly schemas: string;
  /** `sdk/generated/operations.ts` */
  readonly operations: string;
}

const origin = '/** Made from openapi.json by `npm run generate`. */\n';
/** Apart from the word before them: what reads the imports of our files would take them for some. */
const besideIt = './schemas.ts';
const aboveIt = '../call.ts';
const json = 'application/json';
const eventStream = 'text/event-stream';
const form = 'multipart/form-data';
const apiPrefix = '/api/v1/';

/** `text` is that of openapi.json. */
export function sdkSource(text: string): SdkSource {
  const document: Document = JSON.parse(text);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => described(document, path, method, operation)),
  );
  const sent = sentSchemas(document);
  const schemas = Object.entries(document.components.schemas).map(([name, schema]) =>
    declaration(name, schema, sent.has(name)),
  );
  const used = new Set(operations.flatMap(({ signature }) => signature.match(/\b[A-Z]\w*/g) ?? []));
  const names = Object.keys(document.components.schemas).filter((name) => used.has(name));
  const signatures = operations.map(({ signature }) => signature).join('');
  return {
    schemas: `${origin}\n${schemas.join('\n')}`,
    operations: `${origin}import type { ${['Bytes', 'CallOptions', 'EventStream'].filter((name) => used.has(name)).join(', ')} } from '${aboveIt}';
import type {\n${names.map((name) => `  ${name},\n`).join('')}} from '${besideIt}';

/** Nothing has to be said. */
export type None = Readonly<Record<string, never>>;

export interface Operations {\n${signatures}}

/** One a line: its name, its method, its path (below ${apiPrefix} unless it begins with a slash), and what it takes. */
export const table = \`${operations.map(({ row }) => row).join('\n')}\`;\n`,
  };
}

function described(document: Document, path: string, method: string, operation: Operation) {
  const { operationId, summary = '', description, responses, security = [] } = operation;
  const parameters = (operation.parameters ?? []).map((each) => resolved(document, each));
  const inputs = parameters.filter((each) => each.in === 'path' || each.in === 'query');
  const names = inputs.map(({ name }) => name);
  if (new Set([...names, 'body']).size !== names.length + 1)
    throw new TypeError(`${operationId} has two inputs of one name: ${names.join(', ')}`);
  const takes = (name: string) => parameters.some((each) => each.in === 'header' && each.name === name);
  const bodies = Object.entries(operation.requestBody?.content ?? {});
  const answers = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const events = answers.flatMap(([, { content }]) => content?.[eventStream]?.schema ?? []);
  const types = answers.flatMap(([, { content = {} }]) => Object.keys(content));
  const isBytes = types.some((type) => type !== json && type !== eventStream);
  const bytes = bodies.map(([type]) => type).find((type) => type !== json && type !== form);

  const fields: Field[] = inputs.map(({ name, required = false, schema, description }) => ({
    name,
    isRequired: required,
    type: typeOf(schema, true),
    description,
    isSent: true,
  }));
  if (bodies.length > 0) {
    const isRequired = !bodies.some(([type, { schema }]) => type === json && mayBeEmpty(document, schema));
    const type = union(bodies.map(([type, { schema }]) => bodyType(type, schema)));
    fields.push({ name: 'body', isRequired, type, isSent: true });
  }
  const isNeeded = fields.some(({ isRequired }) => isRequired);
  const input =
    fields.length === 0 ? 'None' : `{\n${fields.map((each) => indented(indented(field(each)))).join('')}  }`;
  const answer = isBytes
    ? 'Response'
    : union(answers.map(([, { content }]) => (content ? typeOf(content[json]?.schema ?? {}) : 'undefined')));
  const result = events[0] ? `EventStream<${typeOf(events[0])}>` : `Promise<${answer}>`;

  const marks = [
    security.some((each) => 'accessToken' in each) ? 'a' : '',
    takes('Slipway-Workspace') ? 'w' : '',
    takes('Idempotency-Key') ? 'k' : '',
    bodies.some(([type]) => type === json) ? 'j' : '',
    bodies.some(([type]) => type === form) ? 'f' : '',
    isBytes ? 'b' : '',
    events.length > 0 ? (takes('Last-Event-ID') ? 'e' : 'l') : '',
  ].join('');
  const below = path.startsWith(apiPrefix) ? path.slice(apiPrefix.length) : path;
  const row = [operationId, method.toUpperCase(), below, marks, ...(bytes ? [bytes] : [])];
  const about = [summary && `${summary}.`, description].filter(Boolean).join(' ');
  return {
    row: row.join(' ').trimEnd(),
    signature: `${indented(comment(about))}  ${operationId}(input${isNeeded ? '' : '?'}: ${input}, options?: CallOptions): ${result};\n`,
  };
}

function bodyType(type: string, schema: Schema = {}): string {
  return type === json || type === form ? typeOf(schema, true) : 'Bytes';
}

function resolved(document: Document, parameter: Parameter): Parameter {
  if (parameter.$ref === undefined) return parameter;
  const found = document.components.parameters[nameOf(parameter.$ref)];
  if (found === undefined) throw new TypeError(`${parameter.$ref} leads nowhere`);
  return found;
}

function mayBeEmpty(document: Document, schema: Schema = {}): boolean {
  if (schema.$ref !== undefined)
    return mayBeEmpty(document, document.components.schemas[nameOf(schema.$ref)]);
  const branches = schema.anyOf ?? schema.oneOf;
  if (branches) return branches.some((each) => mayBeEmpty(document, each));
  return schema.type === 'object' && (schema.required ?? []).length === 0;
}

/** Those that a caller writes: there, a field that is undefined is one that is left away. */
function sentSchemas(document: Document): Set<string> {
  const found = new Set<string>();
  const waiting: unknown[] = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map(({ requestBody }) => requestBody),
  );
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) continue;
    const { $ref } = Object(next);
    if (typeof $ref !== 'string') waiting.push(...Object.values(next));
    else if (!found.has(nameOf($ref))) {
      found.add(nameOf($ref));
      waiting.push(document.components.schemas[nameOf($ref)]);
    }
  }
  return found;
}

function declaration(name: string, schema: Schema, isSent: boolean): string {
  const type = typeOf(schema, isSent);
  const isInterface = schema.properties !== undefined && !schema.anyOf && !schema.allOf;
  return `${comment(schema.description)}export ${isInterface ? `interface ${name} ${type}` : `type ${name} = ${type};`}\n`;
}

function typeOf(schema: Schema, isSent = false): string {
  if (schema.$ref !== undefined) return nameOf(schema.$ref);
  if ('const' in schema) return literal(schema.const);
  if (schema.enum) return union(schema.enum.map(literal));
  const branches = schema.anyOf ?? schema.oneOf;
  if (branches) return union(branches.map((each) => typeOf(each, isSent)));
  if (schema.allOf) return schema.allOf.map((each) => grouped(each, isSent)).join(' & ');
  switch (schema.type) {
    case 'string':
      return schema.format === 'binary' ? 'Blob' : 'string';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
    case 'null':
      return schema.type;
    case 'array':
      return `readonly ${grouped(schema.items ?? {}, isSent)}[]`;
    case 'object':
      return objectType(schema, isSent);
    case undefined:
      return 'unknown';
    default:
      throw new TypeError(`a schema of type ${schema.type} is not known here`);
  }
}

function objectType(schema: Schema, isSent: boolean): string {
  const { properties, required = [], additionalProperties } = schema;
  if (properties === undefined) {
    const value = typeof additionalProperties === 'object' ? typeOf(additionalProperties, isSent) : 'unknown';
    return `{ readonly [name: string]: ${value} }`;
  }
  const fields = Object.entries(properties).map(([name, each]) =>
    field({
      name,
      isRequired: required.includes(name),
      type: typeOf(each, isSent),
      description: each.description,
      isSent,
    }),
  );
  return `{\n${fields.map(indented).join('')}}`;
}

interface Field {
  readonly name: string;
  readonly isRequired: boolean;
  readonly type: string;
  readonly description?: string | undefined;
  readonly isSent: boolean;
}

function field({ name, isRequired, type, description, isSent }: Field): string {
  const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
  const value = isRequired ? `: ${type}` : `?: ${type}${isSent ? ' | undefined' : ''}`;
  return `${comment(description)}readonly ${key}${value};\n`;
}

function comment(text = ''): string {
  if (text === '') return '';
  const lines = text.replaceAll('*/', '*\\/').split('\n');
  if (lines.length === 1) return `/** ${lines[0]} */\n`;
  return `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`;
}

function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ');
}

function union(types: readonly string[]): string {
  return [...new Set(types)].map((each) => (each.includes(' & ') ? `(${each})` : each)).join(' | ');
}

/** As a part of another type. */
function grouped(schema: Schema, isSent: boolean): string {
  const type = typeOf(schema, isSent);
  const isOne = schema.$ref !== undefined || (schema.type !== 'array' && !schema.anyOf && !schema.oneOf);
  return isOne && !schema.enum && !schema.allOf ? type : `(${type})`;
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value.replaceAll(/[\\']/g, '\\$&')}'` : JSON.stringify(value);
}

function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}
