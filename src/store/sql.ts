/**
 * Tagged SQL. A value inside the template always becomes a parameter: there is no way to put text into the
 * statement, so there is nothing to escape. A fragment is a template of its own that several statements share, such as a
 * list of columns. Each statement is a named prepared one, parsed once a connection.
 */
import { createHash } from 'node:crypto';

export type SqlValue =
  | string
  | number
  | boolean
  | Date
  | Buffer
  | null
  | readonly string[]
  | readonly number[]
  | readonly Date[];

export interface Query {
  readonly name: string;
  readonly text: string;
  readonly values: readonly SqlValue[];
  /** It changes nothing and waits for nobody's lock: it may share a connection with others. */
  readonly isRead: boolean;
}

export class Fragment {
  readonly strings: readonly string[];
  readonly values: readonly SqlValue[];

  constructor(strings: readonly string[], values: readonly SqlValue[]) {
    this.strings = strings;
    this.values = values;
  }
}

const statements = new WeakMap<TemplateStringsArray, Omit<Query, 'values'>>();

export function sql(strings: TemplateStringsArray, ...values: (SqlValue | Fragment)[]): Query {
  const known = statements.get(strings);
  const flat = values.filter((value): value is SqlValue => !(value instanceof Fragment));
  const isPlain = flat.length === values.length;
  if (known && isPlain) return { ...known, values: flat };
  const whole = fragment(strings, ...values);
  const text = whole.strings.reduce((before, part, index) => `${before}$${index}${part}`);
  const statement = { name: statementName(text), text, isRead: isRead(text) };
  if (isPlain) statements.set(strings, statement);
  return { ...statement, values: whole.values };
}

/** Part of a statement; what is nested in it becomes part of it. */
export function fragment(strings: TemplateStringsArray, ...values: (SqlValue | Fragment)[]): Fragment {
  const [head = '', ...tail] = strings;
  const texts = [head];
  const join = (text: string) => texts.push(`${texts.pop()}${text}`);
  for (const [index, value] of values.entries()) {
    const [first = '', ...rest] = value instanceof Fragment ? value.strings : ['', ''];
    join(first);
    texts.push(...rest);
    join(tail[index] ?? '');
  }
  return new Fragment(
    texts,
    values.flatMap((value) => (value instanceof Fragment ? value.values : [value])),
  );
}

export interface Due {
  readonly now: Date;
  /** The time of what is taken: it comes again then, unless who took it has set another. */
  readonly next: Date;
  readonly limit: number;
}

const dueKey = fragment`workspace_id as "workspaceId", id`;

/**
 * Takes the rows of a table whose time in `column` has come, each for one instance: the others skip what is locked, and
 * afterwards its time has moved on. Both names are constants of ours; the table has a unique `id`.
 */
export function takeDue(
  table: string,
  column: string,
  { now, next, limit }: Due,
  { where = fragment`true`, returning = dueKey }: { where?: Fragment; returning?: Fragment } = {},
): Query {
  const [rows, time] = [new Fragment([quoteName(table)], []), new Fragment([quoteName(column)], [])];
  return sql`
    update ${rows} set ${time} = ${next}
    where id = any(array(
      select id from ${rows} where ${time} <= ${now} and ${where}
      order by ${time} limit ${limit} for update skip locked))
    returning ${returning}`;
}

/** For the few statements whose names of tables come from the catalogue, and so cannot be templates. */
export function preparedText(text: string, ...values: SqlValue[]): Query {
  return { name: statementName(text), text, values, isRead: isRead(text) };
}

/** For names out of the database's own catalogue, which cannot be parameters. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function statementName(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 24);
}

function isRead(text: string): boolean {
  return (
    /^\s*select\b/i.test(text) && !/\bfor\s+(no\s+key\s+|key\s+)?(update|share)\b|\bpg_advisory_/i.test(text)
  );
}
