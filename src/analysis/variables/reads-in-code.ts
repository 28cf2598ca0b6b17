/**
 * Reads of the environment in any language but JavaScript. What reads it is named after it nearly everywhere:
 * `getenv("X")`, `ENV['X']`, `env::var("X")`, `System.get_env "X"`. So a name with "env" in it that is called, indexed
 * or followed by a string of capitals is a read; what stands after it says what happens when there is nothing.
 */
import { isConstantKey } from './names.ts';
import { isMark, type Token } from './tokens.ts';
import { type Absence, whenAbsent } from './when-absent.ts';

export interface Read extends Absence {
  readonly key: string;
  readonly line: number;
  /** While it is compiled: `env!("X")` of Rust. */
  readonly build?: true;
}

/** `env`, `Env`, `ENV`, `environ`, `getenv`, `mustGetEnv`, `$_ENV`, `GetEnvironmentVariable`, `dotenv`; no `envelope`. */
const envWord =
  /^(?:\$_?)?(?:\w*(?:get|lookup|dot|fetch|require|must|has|read|load|optional)_?)?(?:env|environ|environment|envoy|envs)$|env(?:iron)?(?:$|_)|^env_|(?:^|[a-z_])Env(?:$|[A-Z_]|ironment)|^env[A-Z]|[Gg]et_?[Ee]nv/i;
const notEnv =
  /envelop|envoy_?proxy|^(?:set|put|unset|del|delete|stub|with|clear|update|un|remove)_?env|setenv|putenv|virtualenv|SetEnvironment/i;
const writing = /^(?:set|put|del|pop|remove|unset|clear|insert|update|without|merge|store|replace|stub)/i;
const asking = /^(?:lookup|find|has|contains|key|include|exists|is_set|member)/i;
const strict =
  /^(?:must|require|fetch|expect|mandatory|need)|_or_(?:raise|panic|exit|fail)|OrThrow|OrFail|OrPanic|required/i;

export function readsIn(tokens: readonly Token[], before = 0): readonly Read[] {
  const reads: Read[] = [];
  for (let at = before; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token?.kind !== 'word' || !/env/i.test(token.text)) continue;
    if (!envWord.test(token.text) || notEnv.test(token.text)) continue;
    const found = readAt(tokens, at);
    if (found) reads.push(found);
  }
  return reads;
}

function readAt(tokens: readonly Token[], from: number): Read | undefined {
  let at = from + 1;
  let method = tokens[from]?.text ?? '';
  // env::var, environ.get, ENV.fetch, System.getenv().getOrDefault
  for (let steps = 0; steps < 3; steps += 1) {
    if (isMark(tokens[at], '(') && isMark(tokens[at + 1], ')')) at += 2;
    const [separator, next] = [tokens[at], tokens[at + 1]];
    if (!['.', '::', '->', '/', ':', '?'].some((mark) => isMark(separator, mark)) || next?.kind !== 'word')
      break;
    method = next.text;
    at += 2;
  }
  if (writing.test(method)) return undefined;
  const isMacro = isMark(tokens[at], '!');
  if (isMacro) at += 1;
  const opening = tokens[at];
  const isOpen = isMark(opening, '(') || isMark(opening, '[') || isMark(opening, '{');
  const keyAt = isOpen ? at + 1 + skipped(tokens, at + 1) : at;
  const key = tokens[keyAt];
  if (!key || key.line - (opening?.line ?? 0) > 3) return undefined;
  const name = nameIn(key, opening, tokens[keyAt + 1]);
  if (name === undefined) return undefined;
  if (isWritten(tokens, keyAt, opening)) return undefined;
  const absence = asking.test(method)
    ? { required: false }
    : whenAbsent(tokens, { from: startOf(tokens, from), keyAt, isIndex: isMark(opening, '['), isOpen });
  const isStrict =
    strict.test(method) || (isMacro && method === 'env') || (isMacro && /fetch_env/.test(method));
  const isBuild = isMacro && /^(?:option_)?env$/.test(method);
  return {
    key: name,
    line: key.line,
    ...absence,
    ...(isStrict && absence.default === undefined && absence.required !== false ? { required: true } : {}),
    ...(/^option_env$/.test(method) ? { required: false } : {}),
    ...(isBuild ? { build: true as const } : {}),
  };
}

/** Perl writes `$ENV{X}`, Clojure `(env :database-url)`; all others a string. */
function nameIn(key: Token, opening: Token | undefined, next: Token | undefined): string | undefined {
  if (key.kind === 'text') return isConstantKey(key.text) ? key.text : undefined;
  if (key.kind === 'word' && isMark(opening, '{') && isMark(next, '}') && isConstantKey(key.text))
    return key.text;
  return undefined;
}

/** An allocator, an underscore label or a type before the name: `getEnvVarOwned(alloc, "X")`, `get(ENV, "X", 1)`. */
function skipped(tokens: readonly Token[], at: number): number {
  const [first, second, third] = [tokens[at], tokens[at + 1], tokens[at + 2]];
  if (first?.kind === 'word' && isMark(second, ',') && third?.kind === 'text') return 2;
  return 0;
}

/** The first word of `std::env::var`, `os.environ.get`, `System.getenv`. */
function startOf(tokens: readonly Token[], from: number): number {
  let at = from;
  for (let steps = 0; steps < 6; steps += 1) {
    const separator = tokens[at - 1];
    if (
      !['.', '::', '->', '/', '\\'].some((mark) => isMark(separator, mark)) ||
      tokens[at - 2]?.kind !== 'word'
    )
      break;
    at -= 2;
  }
  return at;
}

function isWritten(tokens: readonly Token[], keyAt: number, opening: Token | undefined): boolean {
  if (!isMark(opening, '[') && !isMark(opening, '{')) return false;
  return isMark(tokens[keyAt + 2], '=') && !isMark(tokens[keyAt + 3], '=');
}
