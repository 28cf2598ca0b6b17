/** Unified diffs of small configuration files. */

type Line = readonly [' ' | '-' | '+', string];
const context = 3;

export function unifiedDiff(path: string, before: string | null, after: string | null): string {
  if (before === after) return '';
  const lines = compare(linesOf(before), linesOf(after));
  const head = `--- ${before === null ? '/dev/null' : path}\n+++ ${after === null ? '/dev/null' : path}\n`;
  return head + hunks(lines).join('');
}

function linesOf(text: string | null): string[] {
  if (text === null || text === '') return [];
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

/** The longest common subsequence by its table; the files are short. */
function compare(a: readonly string[], b: readonly string[]): Line[] {
  const width = b.length + 1;
  const table = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number) => table[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      table[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i], b[j]];
    if (left !== undefined && left === right) {
      lines.push([' ', left]);
      i += 1;
      j += 1;
    } else if (left !== undefined && (right === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push(['-', left]);
      i += 1;
    } else {
      lines.push(['+', right ?? '']);
      j += 1;
    }
  }
  return lines;
}

function hunks(lines: readonly Line[]): string[] {
  const changed = lines.flatMap(([sign], index) => (sign === ' ' ? [] : [index]));
  const ranges: [number, number][] = [];
  for (const index of changed) {
    const last = ranges.at(-1);
    if (last && index - last[1] <= 2 * context) last[1] = index;
    else ranges.push([index, index]);
  }
  return ranges.map(([first, last]) => hunk(lines, Math.max(0, first - context), last + context + 1));
}

function hunk(lines: readonly Line[], from: number, to: number): string {
  const count = (part: readonly Line[], sign: '-' | '+') => part.filter(([each]) => each !== sign).length;
  const skipped = lines.slice(0, from);
  const shown = lines.slice(from, to);
  const side = (sign: '-' | '+') => {
    const length = count(shown, sign === '-' ? '+' : '-');
    const start = count(skipped, sign === '-' ? '+' : '-') + (length > 0 ? 1 : 0);
    return `${sign}${start},${length}`;
  };
  return `@@ ${side('-')} ${side('+')} @@\n${shown.map(([sign, text]) => `${sign}${text}\n`).join('')}`;
}
