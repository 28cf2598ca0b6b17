/**
 * Tagged SQL. A value inside the template always becomes a parameter: there is no way to put text into the
 * statement, so there is nothing to escape. Each template is a named prepared statement, parsed once a connection.
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
}

const statements = new WeakMap<TemplateStringsArray, { name: string; text: string }>();

export function sql(strings: TemplateStringsArray, ...values: SqlValue[]): Query {
  let statement = statements.get(strings);
  if (!statement) {
    const text = strings.reduce((before, part, index) => `${before}$${index}${part}`);
    statement = { name: statementName(text), text };
    statements.set(strings, statement);
  }
  return { ...statement, values };
}

/** For the few statements whose names of tables come from the catalogue, and so cannot be templates. */
export function preparedText(text: string, ...values: SqlValue[]): Query {
  return { name: statementName(text), text, values };
}

/** For names out of the database's own catalogue, which cannot be parameters. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function statementName(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 24);
}
