/** `.env` and its kin: `KEY=value` line by line, with quotes, `export`, comments, and values over several lines. */
export interface EnvLine {
  readonly key: string;
  readonly value: string;
  readonly line: number;
  /** What stands behind it or right above it, where people write what it is for. */
  readonly comment: string;
}

const mostLines = 2_000;
const longestLine = 8_000;
/** A quote that is never closed ends after so many lines. */
const mostQuotedLines = 60;

export function parseEnvFile(text: string): readonly EnvLine[] {
  const lines = text.slice(0, 256 * 1024).split(/\r?\n/, mostLines);
  const found: EnvLine[] = [];
  let above = '';
  for (let at = 0; at < lines.length; at += 1) {
    const line = (lines[at] ?? '').slice(0, longestLine).trim();
    if (line === '' || line.startsWith('#')) {
      above = line === '' ? '' : line.replace(/^#+\s*/, '').slice(0, 200);
      continue;
    }
    const head = /^(?:export\s{1,10})?([A-Za-z_][\w.-]{0,127})\s{0,20}[=:](?!:)/.exec(line);
    if (!head?.[1]) continue;
    const start = at;
    const rest = line.slice(head[0].length).trim();
    const quote = /^["'`]/.exec(rest)?.[0];
    let whole = rest;
    while (quote && closing(whole, quote) === -1 && at + 1 < lines.length && at - start < mostQuotedLines) {
      at += 1;
      whole += `\n${(lines[at] ?? '').slice(0, longestLine)}`;
    }
    const { value, comment } =
      quote && closing(whole, quote) !== -1 ? quotedValue(whole, quote) : plainValue(rest);
    if (quote && closing(whole, quote) === -1) at = start;
    found.push({ key: head[1], value, line: start + 1, comment: comment || above });
    above = '';
  }
  return found;
}

function closing(text: string, quote: string): number {
  for (let at = 1; at < text.length; at += 1) {
    if (text[at] === '\\' && quote === '"') at += 1;
    else if (text[at] === quote) return at;
  }
  return -1;
}

function quotedValue(text: string, quote: string) {
  const end = closing(text, quote);
  const inner = text.slice(1, end);
  const value = quote === '"' ? inner.replace(/\\n/g, '\n').replace(/\\(["\\$])/g, '$1') : inner;
  return {
    value,
    comment: text
      .slice(end + 1)
      .trim()
      .replace(/^#+\s*/, '')
      .slice(0, 200),
  };
}

function plainValue(text: string) {
  const at = text.startsWith('#') ? 0 : text.search(/\s#/);
  if (at === -1) return { value: text, comment: '' };
  return {
    value: text.slice(0, at).trim(),
    comment: text
      .slice(at)
      .trim()
      .replace(/^#+\s*/, '')
      .slice(0, 200),
  };
}
