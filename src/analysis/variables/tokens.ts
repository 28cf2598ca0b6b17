/**
 * Words, strings and marks of source text, without its comments: enough to see what is called with what, in any
 * language. One pass, nothing looked at twice, and no more of a file than its first part.
 */
export interface Token {
  readonly kind: 'word' | 'text' | 'mark';
  readonly text: string;
  readonly line: number;
}

export interface Grammar {
  /** What begins a comment that ends with the line. */
  readonly line: readonly string[];
  readonly block?: readonly [string, string];
  /** What a string can begin and end with; elsewhere `'` is a lifetime, a character or a quote of Lisp. */
  readonly quotes: string;
  readonly triple?: boolean;
}

const mostCharacters = 256 * 1024;
const mostTokens = 60_000;
const longestString = 2_000;
const longestWord = 200;
const pairs = new Set(['??', '||', '?:', '::', ':=', '==', '!=', '&&', '->', '=>', '|>']);

export function tokensOf(source: string, grammar: Grammar): readonly Token[] {
  const text = source.length > mostCharacters ? source.slice(0, mostCharacters) : source;
  const tokens: Token[] = [];
  const signs = signsOf(grammar);
  let line = 1;
  let at = 0;
  while (at < text.length && tokens.length < mostTokens) {
    const code = text.charCodeAt(at);
    if (code === 10) line += 1;
    if (code <= 32) {
      at += 1;
      continue;
    }
    if (isWordCode(code)) {
      let end = at + 1;
      while (end < text.length && isWordCode(text.charCodeAt(end))) end += 1;
      tokens.push({ kind: 'word', text: end - at > longestWord ? '' : text.slice(at, end), line });
      at = end;
      continue;
    }
    const sign = code < 128 ? signs[code] : undefined;
    if (sign === 'comment') {
      const after = commentEnd(text, at, grammar);
      if (after !== undefined) {
        line += linesIn(text, at, after);
        at = after;
        continue;
      }
    } else if (sign === 'quote') {
      const { value, after } = stringAt(text, at, text[at] ?? '', grammar.triple === true);
      tokens.push({ kind: 'text', text: value, line });
      line += linesIn(text, at, after);
      at = after;
      continue;
    }
    const pair = text.slice(at, at + 2);
    const mark = pairs.has(pair) ? pair : (text[at] ?? '');
    tokens.push({ kind: 'mark', text: mark, line });
    at += mark.length;
  }
  return tokens;
}

/** Letters, digits, `_` and `$`; whatever is not ASCII is taken for a letter. */
function isWordCode(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    (code >= 48 && code <= 57) ||
    code === 95 ||
    code === 36 ||
    code > 127
  );
}

type Signs = readonly ('comment' | 'quote' | undefined)[];
const known = new Map<Grammar, Signs>();

/** What each character may begin, so that most are passed over by one look. */
function signsOf(grammar: Grammar): Signs {
  const before = known.get(grammar);
  if (before) return before;
  const signs: ('comment' | 'quote' | undefined)[] = new Array(128).fill(undefined);
  for (const quote of grammar.quotes) signs[quote.charCodeAt(0)] = 'quote';
  for (const start of [...grammar.line, ...(grammar.block ?? []).slice(0, 1)])
    signs[start.charCodeAt(0)] = 'comment';
  known.set(grammar, signs);
  return signs;
}

function commentEnd(text: string, at: number, { line, block }: Grammar): number | undefined {
  if (block && text.startsWith(block[0], at)) {
    const end = text.indexOf(block[1], at + block[0].length);
    return end === -1 ? text.length : end + block[1].length;
  }
  if (!line.some((start) => text.startsWith(start, at))) return undefined;
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}

/** A string that does not end on its line ends there, so that one stray quote does not swallow the file. */
function stringAt(text: string, from: number, quote: string, hasTriple: boolean) {
  const isTriple = hasTriple && text.startsWith(quote.repeat(3), from);
  const end = isTriple ? quote.repeat(3) : quote;
  const start = from + end.length;
  const [first, isRaw] = [quote.charCodeAt(0), quote === '`'];
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 92 && !isRaw) at += 1;
    else if (code === first && (!isTriple || text.startsWith(end, at)))
      return { value: cut(text, start, at), after: at + end.length };
    else if (code === 10 && !isTriple && !isRaw) return { value: cut(text, start, at), after: at };
  }
  return { value: cut(text, start, text.length), after: text.length };
}

function cut(text: string, from: number, to: number): string {
  return text.slice(from, Math.min(to, from + longestString));
}

function linesIn(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at += 1) if (text.charCodeAt(at) === 10) count += 1;
  return count;
}

export function isMark(token: Token | undefined, text: string): boolean {
  return token?.kind === 'mark' && token.text === text;
}

const slashes = { line: ['//'], block: ['/*', '*/'] } as const;

/** By the ending of the file. JavaScript has a parser of its own. */
const grammarOf: readonly (readonly [endings: string, Grammar])[] = [
  ['py ex exs', { line: ['#'], quotes: '"\'', triple: true }],
  ['rb ru rake pl pm psgi r R', { line: ['#'], quotes: '"\'' }],
  ['cr', { line: ['#'], quotes: '"' }],
  ['jl', { line: ['#'], quotes: '"', triple: true }],
  ['go', { ...slashes, quotes: '"`' }],
  ['rs java kt kts scala cs swift c h cc cpp cxx hpp', { ...slashes, quotes: '"', triple: true }],
  ['groovy dart', { ...slashes, quotes: '"\'', triple: true }],
  ['fs', { line: ['//'], block: ['(*', '*)'], quotes: '"', triple: true }],
  ['vb', { line: ["'"], quotes: '"' }],
  ['php', { line: ['//', '#'], block: ['/*', '*/'], quotes: '"\'' }],
  ['lua', { line: ['--'], quotes: '"\'' }],
  ['hs', { line: ['--'], block: ['{-', '-}'], quotes: '"' }],
  ['clj cljc scm ss', { line: [';'], quotes: '"' }],
  ['erl', { line: ['%'], quotes: '"' }],
  // Nothing here builds these, but a Dockerfile of their own may: their variables are asked for all the same.
  ['zig gleam', { line: ['//'], quotes: '"' }],
  ['nim', { line: ['#'], quotes: '"\'', triple: true }],
  ['d', { ...slashes, quotes: '"', triple: true }],
  ['v', { ...slashes, quotes: '"\'', triple: true }],
  ['ml', { line: [], block: ['(*', '*)'], quotes: '"' }],
  ['rkt lisp', { line: [';'], quotes: '"' }],
];

export const grammars: Readonly<Record<string, Grammar>> = Object.fromEntries(
  grammarOf.flatMap(([endings, grammar]) => endings.split(' ').map((ending) => [ending, grammar])),
);
