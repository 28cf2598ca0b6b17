/** Every statement of the code: the texts of its tagged templates, with their values as parameters. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/commands.ts';

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
  const found: Statement[] = [];
  for (const match of text.matchAll(/(?<![\w.])sql`/g)) {
    const line = text.slice(0, match.index).split('\n').length;
    found.push({ where: `${path}:${line}`, text: templateAt(text, match.index + match[0].length) });
  }
  return found;
}

function templateAt(text: string, from: number): string {
  let statement = '';
  let parameters = 0;
  for (let at = from; text[at] !== '`'; at += 1) {
    if (text[at] !== '$' || text[at + 1] !== '{') {
      statement += text[at];
      continue;
    }
    parameters += 1;
    statement += `$${parameters}`;
    let depth = 1;
    for (at += 2; depth > 0; at += 1) {
      if (text[at] === '{') depth += 1;
      if (text[at] === '}') depth -= 1;
    }
    at -= 1;
  }
  return statement.trim();
}
