/**
 * Every statement of the code: the texts of its tagged templates, with their values as parameters and the fragments of
 * the same file in their places; and those that `takeDue` makes.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/commands.ts';
import { takeDue } from '../../src/store/sql.ts';

export interface Statement {
  readonly where: string;
  readonly text: string;
}

export function allStatements(): Statement[] {
  return readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => `src/${name}`)
    .sort()
    .flatMap(statementsOf);
}

export function isPlannable(text: string): boolean {
  return /^(select|insert|update|delete|with|merge)\b/i.test(text.trim());
}

function statementsOf(path: string): Statement[] {
  const text = readFileSync(join(root, path), 'utf8');
  const where = (index: number) => `${path}:${text.slice(0, index).split('\n').length}`;
  const fragments = new Map<string, string>();
  for (const { 0: all, 1: name = '', index } of text.matchAll(/\bconst (\w+) = fragment`/g))
    fragments.set(name, templateAt(text, index + all.length, fragments));
  const templates = [...text.matchAll(/(?<![\w.])sql`/g)].map(({ 0: all, index }) => ({
    where: where(index),
    text: templateAt(text, index + all.length, fragments),
  }));
  const now = new Date();
  const due = [...text.matchAll(/\btakeDue\(\s*'(\w+)',\s*'(\w+)'/g)].map(
    ({ 1: table = '', 2: column = '', index }) => ({
      where: where(index),
      text: takeDue(table, column, { now, next: now, limit: 1 }).text.trim(),
    }),
  );
  // The template behind `takeDue` has no names of its own.
  return [...templates.filter((each) => !each.text.startsWith('update $1 set $2')), ...due];
}

function templateAt(text: string, from: number, fragments: ReadonlyMap<string, string>): string {
  let statement = '';
  let parameters = 0;
  for (let at = from; text[at] !== '`'; at += 1) {
    if (text[at] !== '$' || text[at + 1] !== '{') {
      statement += text[at];
      continue;
    }
    const begin = at + 2;
    let depth = 1;
    for (at += 2; depth > 0; at += 1) {
      if (text[at] === '{') depth += 1;
      if (text[at] === '}') depth -= 1;
    }
    at -= 1;
    const shared = fragments.get(text.slice(begin, at));
    if (shared === undefined) parameters += 1;
    statement += shared ?? `$${parameters}`;
  }
  return statement.trim();
}
