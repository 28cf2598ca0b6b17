/** Colours of terminals: a line with its control sequences becomes pieces of text with the names of styles. */

export interface Piece {
  readonly text: string;
  /** Of `styles/log.css`; empty for plain text. */
  readonly style: string;
}

interface Pen {
  readonly colour: string;
  readonly isBold: boolean;
  readonly isDim: boolean;
}

const plain: Pen = { colour: '', isBold: false, isDim: false };
const names = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];
// Any sequence: those that say no colour (cursor, title, erase) are left out of the text.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what this reads
const sequence = /\x1b(?:\[([0-?]*)[ -/]*([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]+[0-~]|[@-Z\\-_])/g;

export function pieces(line: string): Piece[] {
  if (!line.includes('\x1b')) return [{ text: line, style: '' }];
  const found: Piece[] = [];
  let pen = plain;
  let from = 0;
  const add = (text: string) => {
    if (text !== '') found.push({ text, style: styleOf(pen) });
  };
  for (const match of line.matchAll(sequence)) {
    add(line.slice(from, match.index));
    from = match.index + match[0].length;
    if (match[2] === 'm' && /^[\d;:]*$/.test(match[1] ?? '')) pen = applied(pen, match[1] ?? '');
  }
  add(line.slice(from));
  return found;
}

/** The line without its control sequences. */
export function textOf(line: string): string {
  return line.includes('\x1b') ? line.replaceAll(sequence, '') : line;
}

function applied(pen: Pen, parameters: string): Pen {
  const codes = parameters.split(/[;:]/).map(Number);
  let next = pen;
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    if (code === 0) next = plain;
    else if (code === 1) next = { ...next, isBold: true };
    else if (code === 2) next = { ...next, isDim: true };
    else if (code === 22) next = { ...next, isBold: false, isDim: false };
    else if (code >= 30 && code <= 37) next = { ...next, colour: names[code - 30] ?? '' };
    else if (code >= 90 && code <= 97) next = { ...next, colour: names[code - 90] ?? '' };
    else if (code === 39) next = { ...next, colour: '' };
    else if (code === 38 || code === 48) {
      // Of the 256, the first sixteen have names; of the others, and of true colour, the page keeps its own.
      const [kind, index] = [codes[at + 1], codes[at + 2] ?? 0];
      if (code === 38 && kind === 5) next = { ...next, colour: index < 16 ? (names[index % 8] ?? '') : '' };
      at += kind === 5 ? 2 : 4;
    }
  }
  return next;
}

function styleOf({ colour, isBold, isDim }: Pen): string {
  return [colour && `ansi-${colour}`, isBold && 'ansi-bold', isDim && 'ansi-dim'].filter(Boolean).join(' ');
}
