/**
 * Texts of others, made fit for a place with a limit: without what a terminal or a reader's eye would obey, escaped
 * sign by sign, and cut between signs, so that an escape is never cut in half.
 */

export type EscapeSign = (sign: string) => string;

const ansi =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;
// Controls other than tab and line feed, and the marks that turn the direction of writing.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const obeyed = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** What is left is to be read, and does nothing else. */
export function plain(text: string): string {
  return text.toWellFormed().replaceAll('\r\n', '\n').replace(ansi, '').replace(obeyed, '');
}

export function oneLine(text: string): string {
  return plain(text).replace(/\s+/g, ' ').trim();
}

export const escapeHtml: EscapeSign = (sign) =>
  sign === '&' ? '&amp;' : sign === '<' ? '&lt;' : sign === '>' ? '&gt;' : sign === '"' ? '&quot;' : sign;

const asItIs: EscapeSign = (sign) => sign;
const dots = '…';

/** Escaped, and no longer than that afterwards; counted in UTF-16 units, which no vendor counts less of. */
export function fit(text: string, most: number, write: EscapeSign = asItIs): string {
  const whole = signsUntil([...text], most, write);
  if (whole.isAll) return whole.text;
  return `${signsUntil([...text], most - dots.length, write).text.trimEnd()}${dots}`;
}

/** The last lines that have room; of a single one that has none, its end. */
export function fitLast(lines: readonly string[], most: number, write: EscapeSign = asItIs): string {
  const kept: string[] = [];
  let left = most - dots.length - 1;
  for (const line of lines.toReversed()) {
    const written = escaped(line, write);
    if (written.length + 1 > left) {
      if (kept.length > 0) return [dots, ...kept].join('\n');
      const end = signsUntil([...line].reverse(), left, write, true);
      return `${dots}${end.text}`;
    }
    kept.unshift(written);
    left -= written.length + 1;
  }
  return kept.join('\n');
}

function escaped(text: string, write: EscapeSign): string {
  return [...text].map(write).join('');
}

function signsUntil(
  signs: readonly string[],
  most: number,
  write: EscapeSign,
  isBackwards = false,
): { text: string; isAll: boolean } {
  const taken: string[] = [];
  let length = 0;
  for (const sign of signs) {
    const written = write(sign);
    if (length + written.length > most) return { text: joined(taken, isBackwards), isAll: false };
    taken.push(written);
    length += written.length;
  }
  return { text: joined(taken, isBackwards), isAll: true };
}

function joined(signs: string[], isBackwards: boolean): string {
  return (isBackwards ? signs.reverse() : signs).join('');
}
