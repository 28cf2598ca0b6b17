/** Any operation of the API, with its fields as flags. */
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { readFlags } from '../arguments.ts';
import { commonFlags, type Flag, type Run, usageError } from '../command.ts';
import { type ApiOperation, api as operations } from '../generated/api.ts';
import { flagRow, listed } from '../help.ts';
import { Session } from '../session.ts';
import { readStdin } from '../terminal.ts';
import { wrapped } from '../wrapped.ts';

type Field = ApiOperation['inputs'][number];

const bodyFlag: Flag = {
  name: 'body',
  value: 'JSON',
  about: 'The whole body; @FILE reads a file, - standard input.',
};

/** What decides which project or environment is a field here. */
const ownFlags = commonFlags.filter(({ name }) => !['project', 'environment', 'yes'].includes(name));

export const api: Run = async (call) => {
  const { terminal } = call;
  const [first = '', ...words] = call.args;
  if (first === '' || first.startsWith('-')) {
    const rows = Object.entries(operations).map(([name, { summary }]) => [name, summary]);
    terminal.show(Object.fromEntries(rows), () => terminal.table(rows, ['OPERATION', 'WHAT IT DOES'], ''));
    return undefined;
  }
  const operation = operations[first];
  if (!operation) throw usageError(`There is no operation «${first}».`, nearest(first));
  const flags = [...operation.inputs, ...(operation.body ?? [])].map(flagOf);
  const all = [...flags, ...(operation.body ? [bodyFlag] : []), ...ownFlags].filter(
    (flag, at, every) => every.findIndex(({ name }) => name === flag.name) === at,
  );
  const { values, positionals } = readFlags(
    words,
    all.map(({ name, short, ...rest }) => ({ name, ...rest })),
  );
  if (values.help === true) {
    process.stdout.write(helpOf(first, operation, all, terminal.width));
    return undefined;
  }
  if (positionals.length > 0)
    throw usageError(`«${positionals[0]}» is too much.`, 'Fields are flags: see --help.');
  const input = inputsOf(operation.inputs, values);
  const body = operation.body ? await bodyOf(operation.body, values) : undefined;
  return send(new Session([], values, terminal), first, { ...input, ...(body !== undefined && { body }) });
};

const nameOf = ([name]: Field) => name.replace('!', '');

function flagOf(field: Field): Flag {
  const [name, type, about] = field;
  const isRepeated = type === 'strings';
  return {
    name: nameOf(field),
    value: type.toUpperCase().replace('STRINGS', 'STRING'),
    about: [name.endsWith('!') ? 'Must be said.' : '', about, isRepeated ? 'Can be said again.' : '']
      .filter(Boolean)
      .join(' '),
    ...(isRepeated && { isRepeated }),
  };
}

type Values = Record<string, string | boolean | (string | boolean)[] | undefined>;

function inputsOf(fields: readonly Field[], values: Values): Record<string, unknown> {
  const said = fields.filter((field) => values[nameOf(field)] !== undefined);
  const missing = fields.filter((field) => field[0].endsWith('!') && values[nameOf(field)] === undefined);
  if (missing.length > 0)
    throw usageError(
      `${missing.map((field) => `--${nameOf(field)}`).join(', ')} must be said.`,
      'See --help.',
    );
  return Object.fromEntries(said.map((field) => [nameOf(field), valueFrom(field, values[nameOf(field)])]));
}

function valueFrom(field: Field, value: Values[string]): unknown {
  const [, type] = field;
  const wrong = (what: string) => usageError(`--${nameOf(field)} must be ${what}, not «${value}».`);
  if (type === 'strings' || typeof value !== 'string' || type === 'string') return value;
  if (type === 'boolean') {
    if (value !== 'true' && value !== 'false') throw wrong('true or false');
    return value === 'true';
  }
  if (type === 'integer' || type === 'number') {
    if (value.trim() === '' || Number.isNaN(Number(value))) throw wrong('a number');
    return Number(value);
  }
  try {
    return JSON.parse(value);
  } catch (error) {
    if (error instanceof SyntaxError) throw wrong('JSON');
    throw error;
  }
}

async function bodyOf(fields: readonly Field[], values: Values): Promise<unknown> {
  const { body } = values;
  if (typeof body !== 'string') return inputsOf(fields, values);
  const text =
    body === '-' ? await readStdin() : body.startsWith('@') ? readFileSync(body.slice(1), 'utf8') : body;
  return valueFrom(['body', 'json', ''], text);
}

async function send(call: Session, name: string, input: object): Promise<undefined> {
  const { terminal } = call;
  const operation: unknown = Object(call.client)[name];
  if (typeof operation !== 'function') throw usageError(`There is no operation «${name}».`);
  const answer: unknown = operation(input);
  if (isEvents(answer)) {
    for await (const event of answer) process.stdout.write(`${JSON.stringify(event)}\n`);
    return undefined;
  }
  const value = await answer;
  if (value instanceof Response) {
    if (value.body) await pipeline(Readable.fromWeb(Object(value.body)), process.stdout, { end: false });
  } else if (value !== undefined) terminal.show(value, () => [JSON.stringify(value, null, 2)]);
  return undefined;
}

function isEvents(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

function nearest(word: string): string {
  const known = Object.keys(operations);
  const part = known.filter((name) => name.toLowerCase().includes(word.toLowerCase()));
  return part.length > 0 ? `Did you mean ${part.slice(0, 5).join(', ')}?` : '`slipway api` lists all.';
}

function helpOf(name: string, { summary }: ApiOperation, flags: readonly Flag[], width: number): string {
  return [
    ...wrapped(`${summary}.`, width),
    '',
    `Usage: slipway api ${name} [flags]`,
    '',
    'Flags',
    ...listed(flags.map(flagRow), width),
    '',
  ].join('\n');
}
