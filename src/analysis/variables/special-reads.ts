/** Forms that some libraries have beside plain reads, in tokens of one language each. */
import { isConstantKey } from './names.ts';
import { type Read, readsIn } from './reads-in-code.ts';
import { type Grammar, isMark, type Token, tokensOf } from './tokens.ts';
import { whenAbsent } from './when-absent.ts';

type Special = (tokens: readonly Token[], at: number, token: Token) => readonly Read[];

const specials: Readonly<Record<string, readonly Special[]>> = {
  go: [structTag, viper],
  rs: [attribute],
  py: [decouple, databaseUrl],
  java: [annotation],
  kt: [annotation],
  scala: [annotation],
  groovy: [annotation],
  clj: [keyword],
  cljc: [keyword],
};

export function specialReads(ending: string, tokens: readonly Token[], grammar: Grammar): readonly Read[] {
  const readers = specials[ending] ?? [];
  const reads: Read[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (!token) continue;
    for (const reader of readers) reads.push(...reader(tokens, at, token));
    // `"#{ENV['X']}"` and `f"{os.getenv('X')}"`.
    if (
      token.kind === 'text' &&
      /env/i.test(token.text) &&
      /\{[^}]{0,80}env|\\\([^)]{0,80}env/i.test(token.text)
    )
      reads.push(...readsIn(tokensOf(token.text, grammar)).map((read) => ({ ...read, line: token.line })));
  }
  return reads;
}

/** The name of a variable that stands there as a string. */
function keyAt(tokens: readonly Token[], at: number): Token | undefined {
  const token = tokens[at];
  return token?.kind === 'text' && isConstantKey(token.text) ? token : undefined;
}

/** `env:"X,required" envDefault:"x"`, `envconfig:"X" default:"x"`, `env:"X, default=x"`. */
function structTag(_: readonly Token[], __: number, { kind, text, line }: Token): readonly Read[] {
  if (kind !== 'text' || !text.includes('env')) return [];
  const found = /(?:^|[\s`])env(?:config)?:"([A-Z][A-Z0-9_]{1,100})([^"]{0,200})"/.exec(text);
  if (!found?.[1]) return [];
  const options = found[2] ?? '';
  const value =
    /(?:^|\s)(?:envDefault|env-default|default):"([^"]{0,300})"/.exec(text)?.[1] ??
    /default=([^,]{0,300})/.exec(options)?.[1];
  if (value !== undefined) return [{ key: found[1], line, default: value.trim(), required: false }];
  const isRequired = /required|notEmpty/.test(options) || /(?:required|env-required):"true"/.test(text);
  return [{ key: found[1], line, required: isRequired }];
}

/** `viper.GetString("PORT")`, only where keys are written as variables are. */
function viper(tokens: readonly Token[], at: number, token: Token): readonly Read[] {
  if (token.text !== 'viper' || !/^(?:Get|BindEnv|SetDefault|MustBindEnv)/.test(tokens[at + 2]?.text ?? ''))
    return [];
  const key = keyAt(tokens, at + 4);
  if (!key) return [];
  const value = tokens[at + 2]?.text === 'SetDefault' ? tokens[at + 6]?.text : undefined;
  return [
    { key: key.text, line: key.line, ...(value === undefined ? {} : { default: value, required: false }) },
  ];
}

/** clap: `#[arg(long, env = "X", default_value = "x")]`. */
function attribute(tokens: readonly Token[], at: number, token: Token): readonly Read[] {
  const key = keyAt(tokens, at + 2);
  if (token.text !== 'env' || !isMark(tokens[at + 1], '=') || !key) return [];
  for (let next = at + 3; next < at + 16; next += 1) {
    if (isMark(tokens[next], ']')) break;
    if (!/^default_value(?:_t)?$/.test(tokens[next]?.text ?? '')) continue;
    const value = tokens[next + 2]?.text;
    return [
      { key: key.text, line: key.line, required: false, ...(value === undefined ? {} : { default: value }) },
    ];
  }
  return [{ key: key.text, line: key.line }];
}

/** python-decouple and Starlette: `config("X", default=…, cast=…)`; it raises where there is neither. */
function decouple(tokens: readonly Token[], at: number, token: Token): readonly Read[] {
  const key = keyAt(tokens, at + 2);
  if (token.text !== 'config' || !isMark(tokens[at + 1], '(') || !key) return [];
  if (isMark(tokens[at - 1], '.') || tokens[at - 1]?.text === 'def') return [];
  const absence = whenAbsent(tokens, { from: at, keyAt: at + 2, isIndex: false, isOpen: true });
  return [{ key: key.text, line: key.line, required: true, ...absence }];
}

/** `dj_database_url.config(…)` and `env.db()` read DATABASE_URL without naming it. */
function databaseUrl(tokens: readonly Token[], at: number, token: Token): readonly Read[] {
  const method = tokens[at + 2]?.text;
  const isOpen =
    isMark(tokens[at + 1], '.') && isMark(tokens[at + 3], '(') && tokens[at + 4]?.kind !== 'text';
  if (!isOpen || token.kind !== 'word') return [];
  if (token.text === 'dj_database_url' && method === 'config')
    return [{ key: 'DATABASE_URL', line: token.line, required: false }];
  if (token.text === 'env' && /^(?:db|dj_db_url)$/.test(method ?? ''))
    return [{ key: 'DATABASE_URL', line: token.line }];
  return token.text === 'env' && method === 'cache' ? [{ key: 'CACHE_URL', line: token.line }] : [];
}

/** `@Value("${X:x}")`, `@ConfigProperty(name = "X")`. */
function annotation(tokens: readonly Token[], at: number, { kind, text, line }: Token): readonly Read[] {
  if (kind !== 'text' || !text.startsWith('${') || !['Value', 'value'].includes(tokens[at - 2]?.text ?? ''))
    return [];
  return interpolations(text, line);
}

/** environ for Clojure: `(env :database-url)` is DATABASE_URL. */
function keyword(tokens: readonly Token[], at: number, token: Token): readonly Read[] {
  if (token.text !== 'env' || !isMark(tokens[at - 1], '(') || !isMark(tokens[at + 1], ':')) return [];
  const words: string[] = [];
  let next = at + 2;
  while (tokens[next]?.kind === 'word' && words.length < 8) {
    words.push(tokens[next]?.text ?? '');
    if (!isMark(tokens[next + 1], '-')) break;
    next += 2;
  }
  const key = words.join('_').toUpperCase();
  return isConstantKey(key) ? [{ key, line: token.line }] : [];
}

/** `${X}`, `${X:x}`, `${?X}` of Spring, Quarkus, Micronaut and HOCON; only names in capitals are variables. */
export function interpolations(text: string, line: number): readonly Read[] {
  const reads: Read[] = [];
  for (const [, mark, key = '', rest] of text
    .slice(0, 2_000)
    .matchAll(/\$\{(\?)?([A-Z][A-Z0-9_]{1,100})(?::-?([^}$]{0,300}))?/g)) {
    if (!isConstantKey(key)) continue;
    if (rest !== undefined) reads.push({ key, line, default: rest, required: false });
    else reads.push({ key, line, required: mark === undefined });
  }
  return reads;
}
