import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processorSeconds } from '../../../test/support/processor-time.ts';
import { readsIn } from './reads-in-code.ts';
import { settingsReads } from './settings-classes.ts';
import { specialReads } from './special-reads.ts';
import { grammars, tokensOf } from './tokens.ts';

/** `X!`: it stops without. `X?`: it goes on. `X=d`: with a default. `X`: nothing is said. */
function said(ending: string, text: string): string {
  const grammar = grammars[ending];
  assert(grammar);
  const tokens = tokensOf(text, grammar);
  const reads = [...readsIn(tokens), ...specialReads(ending, tokens, grammar)];
  const marks = reads.map(({ key, required, default: value }) => {
    if (value !== undefined) return `${key}=${value}`;
    return required === undefined ? key : `${key}${required ? '!' : '?'}`;
  });
  return [...new Set(marks)].join(' ');
}

const cases: readonly (readonly [string, string, string])[] = [
  ['py', 'a = os.environ["AA"]; b = os.getenv("BB", "x"); c = os.environ.get("CC")', 'AA! BB=x CC'],
  ['py', 'if not os.getenv("AA"):\n    raise ValueError()', 'AA!'],
  ['py', 'v = os.getenv("AA")\nif not v:\n    sys.exit(1)', 'AA!'],
  ['py', 'if os.getenv("AA"): run()', 'AA?'],
  ['py', 'os.environ["AA"] = "1"; os.environ.setdefault("BB", "2")', ''],
  ['py', '"""os.environ["AA"]"""\n# os.environ["BB"]', ''],
  ['py', 'x = env.bool("AA", default=False); y = env("BB", cast=int, default=3)', 'AA=false BB=3'],
  ['py', 'x = f"{os.environ[\'AA\']}"', 'AA!'],
  ['go', 'p := os.Getenv("AA")\nif p == "" {\n\tp = "80"\n}', 'AA=80'],
  ['go', 'k := os.Getenv("AA")\nif k == "" { log.Fatal("AA") }', 'AA!'],
  [
    'go',
    'type C struct { A string `env:"AA" envDefault:"x"`; B int `envconfig:"BB" required:"true"` }',
    'AA=x BB!',
  ],
  ['go', '// os.Getenv("AA")\n/* os.Getenv("BB") */', ''],
  [
    'rs',
    'env::var("AA").unwrap_or_else(|_| "3000".to_string()); env::var("BB").expect("b"); env::var("CC")?;',
    'AA=3000 BB! CC!',
  ],
  ['rs', '#[arg(long, env = "AA", default_value = "x")]\nif let Ok(v) = std::env::var("BB") {}', 'BB? AA=x'],
  [
    'rb',
    "ENV['AA']; ENV.fetch('BB'); ENV.fetch('CC', 3); ENV.fetch('DD') { 5 }; ENV['EE'] || 'x'",
    'AA BB! CC=3 DD=5 EE=x',
  ],
  [
    'php',
    "<?php env('AA', 'x'); getenv('BB') ?: 'y'; $_ENV['CC'] ?? 'z'; env('DD'); // env('EE')",
    'AA=x BB=y CC=z DD',
  ],
  [
    'java',
    `System.getenv("AA"); System.getenv().getOrDefault("BB", "x"); @Value("\${CC:y}") String c;`,
    'AA BB=x CC=y',
  ],
  ['kt', 'val a = System.getenv("AA") ?: "x"; val b = System.getenv("BB") ?: error("b")', 'AA=x BB!'],
  [
    'cs',
    'Environment.GetEnvironmentVariable("AA") ?? "x"; Environment.GetEnvironmentVariable("BB") ?? throw new E();',
    'AA=x BB!',
  ],
  [
    'ex',
    'System.get_env("AA") || raise "no"\nSystem.get_env("BB", "x")\nSystem.fetch_env!("CC")\nif System.get_env("DD") do',
    'AA! BB=x CC! DD?',
  ],
  ['dart', "Platform.environment['AA'] ?? 'x'; String.fromEnvironment('BB', defaultValue: 'y')", 'AA=x BB=y'],
  ['swift', 'Environment.get("AA") ?? "x"', 'AA=x'],
  ['hs', 'a <- lookupEnv "AA"\nb <- getEnv "BB"', 'AA? BB'],
  ['clj', '(System/getenv "AA") (env :database-url)', 'AA DATABASE_URL'],
  ['zig', 'std.posix.getenv("AA") orelse "80"', 'AA=80'],
  ['pl', 'my $x = $ENV{AA} || 3;', 'AA=3'],
  ['lua', 'os.getenv("AA") or "x"', 'AA=x'],
  ['c', 'getenv("AA"); setenv("BB", "1", 1); envelope("CC");', 'AA'],
];

for (const [ending, text, expected] of cases) {
  test(`In .${ending} is read: ${expected || 'nothing'}`, () => {
    const sort = (list: string) => list.split(' ').sort().join(' ');
    assert.equal(sort(said(ending, text)), sort(expected));
  });
}

test('Fields of a settings class are variables, with prefix, alias and default', () => {
  const reads = settingsReads(`class Settings(BaseSettings):
    """name: str = "text" """
    model_config = SettingsConfigDict(env_prefix="APP_")
    size: int
    color: str = "red"
    key: str = Field(..., alias="SECRET_KEY")
    limit: int = Field(default=5, ge=1)

    @property
    def x(self) -> int:
        y: int = 3
        return y


class Other(BaseModel):
    z: int
`);
  assert.deepEqual(
    reads.map(({ key, required, default: value }) => [key, required, value]),
    [
      ['APP_SIZE', true, undefined],
      ['APP_COLOR', false, 'red'],
      ['SECRET_KEY', true, undefined],
      ['APP_LIMIT', false, '5'],
    ],
  );
});

test('Text made to hurt is passed over in good time', () => {
  const taken = processorSeconds(() => {
    for (const piece of ['os.getenv(', 'ENV["', 'env.env.', '"""', "'", '/*', 'getenv("A" ', '{(['])
      for (const ending of ['py', 'rb', 'go', 'rs', 'php']) said(ending, piece.repeat(40_000));
  });
  assert(taken < 60, `${taken} s`);
});
