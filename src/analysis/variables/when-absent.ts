/** What code does when a variable is not set, as far as the tokens around the read show. */
import { isMark, type Token } from './tokens.ts';

export interface Absence {
  readonly default?: string;
  /** True: it stops. False: it goes on with something else. Absent: it goes on with nothing. */
  readonly required?: boolean;
}

export interface ReadPlace {
  /** Where the expression begins. */
  readonly from: number;
  readonly keyAt: number;
  readonly isIndex: boolean;
  readonly isOpen: boolean;
}

/** What ends a program, or refuses to go on without a value, in some language. */
const stopping = new Set(
  'raise throw panic Fatal Fatalf Fatalln fatal exit abort die error Exit fatalError expect unwrap failwith Abort bail todo unreachable orElseThrow requireNonNull checkNotNull'.split(
    ' ',
  ),
);
const falling = new Set(
  '?? || ?: or // orElse getOrElse unwrap_or unwrap_or_else unwrap_or_default getOrDefault ok fromMaybe orelse withDefault get_or_insert ifEmpty map_or map_or_else presence_or unwrap_or_env withDefaultValue result'.split(
    ' ',
  ),
);
const testing = new Set('if elif unless while and not ! && when && || ternary guard'.split(' '));
/** What asks a value whether it is there, or is only asked of one that may be missing. */
const tested = new Set(
  'present blank nil empty isEmpty isBlank is_some is_ok is_none is_err isPresent isNullOrEmpty IsNullOrEmpty IsNullOrWhiteSpace isNotEmpty ok lower downcase casecmp'.split(
    ' ',
  ),
);

export function whenAbsent(tokens: readonly Token[], place: ReadPlace): Absence {
  const given = argumentDefault(tokens, place);
  if (given) return given;
  const end = endOf(tokens, place);
  const after = fallback(tokens, end);
  if (after) return after;
  const isTested = isInTest(tokens, place.from) || followsTest(tokens, end);
  if (isTested) return stopsSoon(tokens, end, 14) ? { required: true } : { required: false };
  const later = afterAssignment(tokens, place.from, end);
  if (later) return later;
  // `os.environ["X"]` raises; an index elsewhere gives nothing.
  const owner = tokens[place.keyAt - 2]?.text;
  return place.isIndex && owner === 'environ' ? { required: true } : {};
}

/** `getenv("X", "x")`, `config("X", default=8000)`, `fromEnvironment('X', defaultValue: 'x')`, `fetch("X") { 5 }`. */
function argumentDefault(tokens: readonly Token[], { keyAt, isOpen }: ReadPlace): Absence | undefined {
  if (!isOpen) return undefined;
  let at = keyAt + 1;
  if (!isMark(tokens[at], ',')) {
    const isBlock =
      isMark(tokens[at], ')') && isMark(tokens[at + 1], '{') && tokens[at]?.line === tokens[at + 1]?.line;
    const value = isBlock ? literalAt(tokens, at + 2) : undefined;
    return value === undefined ? undefined : { default: value, required: false };
  }
  at += 1;
  for (let steps = 0; steps < 12; steps += 1) {
    const [name, sign] = [tokens[at], tokens[at + 1]];
    if (
      name?.kind === 'word' &&
      /^(?:default|defaultValue|default_value|fallback)$/.test(name.text) &&
      (isMark(sign, '=') || isMark(sign, ':'))
    )
      return defaultAt(tokens, at + 2);
    if (name?.kind === 'word' && (isMark(sign, '=') || isMark(sign, ':'))) {
      at = nextArgument(tokens, at);
      if (at === -1) return undefined;
    } else return steps === 0 ? defaultAt(tokens, at) : undefined;
  }
  return undefined;
}

function nextArgument(tokens: readonly Token[], from: number): number {
  let depth = 0;
  for (let at = from; at < Math.min(tokens.length, from + 40); at += 1) {
    const mark = tokens[at]?.kind === 'mark' ? tokens[at]?.text : '';
    if (mark === '(' || mark === '[' || mark === '{') depth += 1;
    if (mark === ')' || mark === ']' || mark === '}') depth -= 1;
    if (depth < 0) return -1;
    if (depth === 0 && mark === ',') return at + 1;
  }
  return -1;
}

function defaultAt(tokens: readonly Token[], at: number): Absence {
  const token = tokens[at];
  if (token?.kind === 'word' && /^(?:None|nil|null|NULL)$/.test(token.text)) return { required: false };
  // `env("X", raise: true)`, or a type: `env.get("X", String)`.
  if (token?.kind === 'mark' && token.text === ')') return {};
  const value = literalAt(tokens, at);
  return value === undefined ? { required: false } : { default: value, required: false };
}

function literalAt(tokens: readonly Token[], at: number): string | undefined {
  const token = tokens[at];
  if (token?.kind === 'text') return token.text;
  if (isMark(token, '-') && /^\d/.test(tokens[at + 1]?.text ?? '')) return `-${tokens[at + 1]?.text}`;
  if (token?.kind === 'word' && /^(?:\d\w*|true|false|True|False)$/.test(token.text))
    return token.text.toLowerCase();
  return undefined;
}

/** Past the closing bracket of the read. */
function endOf(tokens: readonly Token[], { keyAt, isOpen }: ReadPlace): number {
  if (!isOpen) return keyAt + 1;
  let depth = 1;
  for (let at = keyAt + 1; at < Math.min(tokens.length, keyAt + 30); at += 1) {
    const token = tokens[at];
    if (token?.kind !== 'mark') continue;
    if ('([{'.includes(token.text)) depth += 1;
    if (')]}'.includes(token.text)) depth -= 1;
    if (depth === 0) return at + 1;
  }
  return keyAt + 2;
}

/** `?? "x"`, `|| raise`, `.unwrap_or("x")`, `.expect(…)`; closing brackets of conversions around it are skipped. */
function fallback(tokens: readonly Token[], from: number): Absence | undefined {
  const line = tokens[from - 1]?.line ?? 0;
  for (let at = from; at < from + 8; at += 1) {
    const token = tokens[at];
    if (!token || token.line > line + 2) return undefined;
    if (token.kind === 'word' && stopping.has(token.text) && isMark(tokens[at - 1], '.'))
      return { required: true };
    if (token.kind !== 'text' && falling.has(token.text)) return afterOperator(tokens, at + 1);
    if (isMark(token, '?') && (isMark(tokens[at + 1], '?') || isMark(tokens[at + 1], ':')))
      return afterOperator(tokens, at + 2);
    if (isMark(token, '?') && isMark(tokens[at + 1], ';')) return { required: true };
    const passes =
      [')', '.', '?', '(', '|>', '&', '!'].some((mark) => isMark(token, mark)) ||
      (token.kind === 'word' && isMark(tokens[at - 1], '.'));
    if (!passes) return undefined;
    if (token.kind === 'word' && tested.has(token.text)) return undefined;
  }
  return undefined;
}

function afterOperator(tokens: readonly Token[], from: number): Absence {
  for (let at = from; at < from + 8; at += 1) {
    const token = tokens[at];
    if (!token) break;
    if (token.kind === 'word' && stopping.has(token.text)) return { required: true };
    const value = literalAt(tokens, at);
    if (value !== undefined) return { default: value, required: false };
    if (
      token.kind === 'word' &&
      !/^(?:String|str|_|e|err|new|from|into|Some|lambda|return|to_string|move)$/.test(token.text)
    )
      break;
    if (isMark(token, ';') || isMark(token, ',') || isMark(token, '}')) break;
  }
  return { required: false };
}

/** Whether the line is a question: `if os.getenv("X"):`, `puts 1 if ENV['X']`, `if let Ok(v) = env::var("X")`. */
function isInTest(tokens: readonly Token[], from: number): boolean {
  const line = tokens[from]?.line;
  if (testing.has(tokens[from - 1]?.text ?? '') && tokens[from - 1]?.kind !== 'text') return true;
  let first = from;
  while (tokens[first - 1]?.line === line) first -= 1;
  const start = tokens[first];
  const opener = isMark(start, '}') ? tokens[first + 1]?.text : start?.text;
  return (
    start?.kind !== 'text' &&
    first !== from &&
    /^(?:if|elif|elsif|else|unless|while|guard|match|switch|case|when)$/.test(opener ?? '')
  );
}

function followsTest(tokens: readonly Token[], end: number): boolean {
  const [next, after] = [tokens[end], tokens[end + 1]];
  if (next?.kind === 'mark' && ['==', '!=', '&&', '=>'].includes(next.text)) return true;
  if (
    next?.kind === 'word' &&
    /^(?:is|in|and|if|!=|eq|ne)$/.test(next.text) &&
    next.line === tokens[end - 1]?.line
  )
    return true;
  return (
    (isMark(next, '.') && tested.has(after?.text ?? '')) || (isMark(next, '?') && after?.kind === 'text')
  );
}

function stopsSoon(tokens: readonly Token[], from: number, most: number): boolean {
  for (let at = from; at < from + most; at += 1) {
    const token = tokens[at];
    if (token?.kind === 'word' && stopping.has(token.text) && token.text !== 'error') return true;
  }
  return false;
}

/** `v := os.Getenv("X")`, then `if v == "" { v = "x" }` or `{ log.Fatal(…) }`. */
function afterAssignment(tokens: readonly Token[], from: number, end: number): Absence | undefined {
  const sign = tokens[from - 1];
  if (!isMark(sign, '=') && !isMark(sign, ':=')) return undefined;
  let at = from - 2;
  if (isMark(tokens[at - 1], ',')) at -= 2;
  const name = tokens[at]?.text;
  if (name === undefined || tokens[at]?.kind !== 'word' || name === '') return undefined;
  for (let next = end; next < Math.min(tokens.length, end + 12); next += 1) {
    if (!/^(?:if|unless)$/.test(tokens[next]?.text ?? '') || tokens[next]?.kind !== 'word') continue;
    const isAbout = [1, 2, 3, 4, 5].some((step) => tokens[next + step]?.text === name);
    if (!isAbout) return undefined;
    for (let step = next + 2; step < next + 14; step += 1) {
      if (tokens[step]?.text === name && isMark(tokens[step + 1], '=')) return defaultAt(tokens, step + 2);
      if (tokens[step]?.kind === 'word' && stopping.has(tokens[step]?.text ?? '')) return { required: true };
    }
    return { required: false };
  }
  return undefined;
}
