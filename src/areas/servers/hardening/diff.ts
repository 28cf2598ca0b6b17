/** Unified diffs of small configuration files. */
import { diff } from 'node:util';

type Line = readonly [' ' | '-' | '+', string];
/** Of a line that is in the first text only, in both, or in the second only. */
const signs = { 1: '-', 0: ' ', [-1]: '+' } as const;
const context = 3;

export function unifiedDiff(path: string, before: string | null, after: string | null): string {
  if (before === after) return '';
  const lines = diff(linesOf(before), linesOf(after)).map(([side, text]): Line => [signs[side], text]);
  const head = `--- ${before === null ? '/dev/null' : path}\n+++ ${after === null ? '/dev/null' : path}\n`;
  return head + hunks(lines).join('');
}

function linesOf(text: string | null): string[] {
  if (text === null || text === '') return [];
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
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
