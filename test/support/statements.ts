/**
 * Every statement of the code: the texts of its tagged templates, with their values as parameters and the fragments of
 * the same file in their places; and those that `takeDue` makes.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/commands.ts';
import { Fragment, takeDue } from '../../src/store/sql.ts';

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
  const now = new Date();
  const templates = [...text.matchAll(/(?<![\w.])sql`/g)].map(({ 0: all, index }) => ({
    where: where(index),
    text: templateAt(text, index + all.length),
  }));
  const due = [...text.matchAll(/\btakeDue\(\s*'(\w+)',\s*'(\w+)',\s*\w+(,\s*\{[^}]*\bwhere\b)?/g)].map(
    ({ 1: table = '', 2: column = '', 3: more, index }) => {
      const condition = more === undefined ? 'true' : (fragmentBefore(text, index, 'where') ?? 'true');
      const options = { where: new Fragment([condition], []) };
      const { text: statement } = takeDue(table, column, { now, next: now, limit: 1 }, options);
      return { where: where(index), text: statement.trim() };
    },
  );
  // The template behind `takeDue` has no names of its own.
  return [...templates.filter((each) => !each.text.startsWith('update $1 set $2')), ...due];
}

/** The text of the fragment that the name means at this place: the last one that was declared before. */
function fragmentBefore(text: string, index: number, name: string): string | undefined {
  const declared = `const ${name} = fragment\``;
  const at = text.lastIndexOf(declared, index);
  return at === -1 ? undefined : templateAt(text, at + declared.length);
}

function templateAt(text: string, from: number): string {
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
    const shared = fragmentBefore(text, from, text.slice(begin, at));
    if (shared === undefined) parameters += 1;
    statement += shared ?? `$${parameters}`;
  }
  return statement.trim();
}
