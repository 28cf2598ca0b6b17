/** Reads a `.env` file: `KEY=value` lines, comments, `export`, and quotes. Says which lines it does not understand. */

export interface EnvFile {
  readonly variables: readonly { readonly key: string; readonly value: string }[];
  readonly problems: readonly string[];
}

export function parseEnv(text: string): EnvFile {
  const found = new Map<string, string>();
  const problems: string[] = [];
  // A value in quotes may go over several lines.
  const line =
    /^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*("(?:[^"\\]|\\[\s\S])*"|'[^']*'|[^\n]*)[ \t]*(?:#.*)?$/my;
  for (let at = 0, number = 1; at < text.length; ) {
    const end = text.indexOf('\n', at) === -1 ? text.length : text.indexOf('\n', at);
    const one = text.slice(at, end).trim();
    if (one === '' || one.startsWith('#')) {
      at = end + 1;
      number += 1;
      continue;
    }
    line.lastIndex = at;
    const read = line.exec(text);
    if (read?.[1] === undefined) {
      problems.push(`Line ${number} is not KEY=value.`);
      at = end + 1;
      number += 1;
      continue;
    }
    found.set(read[1], unquoted(read[2] ?? ''));
    number += read[0].split('\n').length;
    at += read[0].length + 1;
  }
  return { variables: [...found].map(([key, value]) => ({ key, value })), problems };
}

function unquoted(raw: string): string {
  const text = raw.trim();
  if (/^'[^']*'$/.test(text)) return text.slice(1, -1);
  if (/^"[\s\S]*"$/.test(text))
    return text
      .slice(1, -1)
      .replaceAll(/\\([\s\S])/g, (_, letter: string) => ({ n: '\n', r: '\r', t: '\t' })[letter] ?? letter);
  return text.replace(/\s+#.*$/, '');
}
