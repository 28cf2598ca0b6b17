/** What hostile repositories are made of: names that are read, and contents that hurt whoever reads them. */
import type { Random } from '../support/random.ts';

const manifestNames = [
  'package.json',
  'pnpm-workspace.yaml',
  'lerna.json',
  'turbo.json',
  'nx.json',
  'angular.json',
  'deno.json',
  'tsconfig.json',
  'package-lock.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'Cargo.toml',
  'go.mod',
  'go.work',
  'pom.xml',
  'build.gradle',
  'settings.gradle',
  'composer.json',
  'Gemfile',
  'Gemfile.lock',
  'mix.exs',
  'app.csproj',
  'a.sln',
  'requirements.txt',
  'pyproject.toml',
  'Pipfile',
  'setup.py',
  'manage.py',
  'Dockerfile',
  'docker-compose.yml',
  '.env.example',
  '.env',
  'Procfile',
  'render.yaml',
  'fly.toml',
  'netlify.toml',
  'vercel.json',
  'app.json',
  'heroku.yml',
  'railway.json',
  'app.yaml',
  'prisma/schema.prisma',
  'Makefile',
  'vite.config.ts',
  'next.config.js',
  '.tool-versions',
  '.dockerignore',
  'stack.yaml',
  'pubspec.yaml',
  '_config.yml',
  'config.toml',
  'CMakeLists.txt',
];

const sourceNames = [
  'a.js',
  'b.ts',
  'c.tsx',
  'd.vue',
  'e.py',
  'f.rb',
  'g.go',
  'h.php',
  'i.rs',
  'j.java',
  'k.ex',
  'l.cs',
];

/** A manifest that means something, so that those who read on are reached. */
const valid: Readonly<Record<string, string>> = {
  'package.json':
    '{"name":"a","scripts":{"start":"node a.js","build":"tsc"},"dependencies":{"express":"4","pg":"8"}}',
  'Cargo.toml': '[package]\nname = "a"\n[dependencies]\naxum = "0.7"\n',
  'go.mod': 'module a\n\ngo 1.22\n\nrequire github.com/gin-gonic/gin v1.9.0\n',
  'requirements.txt': 'flask==3.0\ngunicorn\n',
  Dockerfile: 'FROM node:24\nCOPY . .\nEXPOSE 3000\nCMD ["node", "a.js"]\n',
  'docker-compose.yml':
    'services:\n  web:\n    build: .\n    ports: ["3000:3000"]\n  db:\n    image: postgres:17\n',
  Gemfile: "source 'https://rubygems.org'\ngem 'rails', '7.1'\n",
  'composer.json': '{"require":{"laravel/framework":"^11"}}',
  'pom.xml': '<project><artifactId>a</artifactId><dependencies></dependencies></project>',
};

const openers = [
  '(',
  '[',
  '{',
  '<',
  '((a=',
  '(a=',
  '(a,',
  'a=>',
  '!',
  '-',
  'a?',
  'a?b:',
  '`${',
  '[a=',
  '{a:',
  '{"a":',
  '[[',
  '<a>',
  '<a<',
  'async(',
  'async<a>(',
  'function*a(){',
  'class extends ',
  'if(a)',
  'new ',
  'a??',
  'a||',
  '&a ',
  '- ',
  '? ',
  '>',
  '#',
  '"',
  "'",
  '\\',
  '$(',
  '${',
  '/*',
  '//',
  '/[',
  '<!--',
  '<![CDATA[',
  '<<EOF\n',
  '- - ',
  ': ',
  'a.',
  'a[',
  'let a=',
  '@a',
  'import(',
  '\u2028',
  '%{',
  '=begin\n',
  '"""',
  "'''",
  'r#"',
  '(?:',
  '*a',
  '**/',
  '{a,',
  '[a-',
];
const characters = [...' \t\n\r#"\'`/\\*[]{}()<>=:;,.-_!$%&@|?+~^a0é\u0000\uFEFF\u202e'];

function some(random: Random, from: readonly string[]): string {
  return from[random.between(0, from.length - 1)] ?? '';
}

export function hostileName(random: Random): string {
  return random.pick(
    () => 'a'.repeat(200),
    () => `${'a'.repeat(100)}b`,
    () => '__proto__',
    () => 'constructor',
    () => 'a b\n\tc',
    () => '*a*a*b',
    () => '..a',
    () => 'é\u0301\u202ea',
    () => `${random.between(1, 30)}`,
  )();
}

function pattern(random: Random): string {
  const piece = () =>
    random.pick(
      '*a',
      '**',
      '*',
      '?',
      '[!a-z]',
      '{a,b}',
      '{a,{b,{c,d}}}',
      '(a|b)',
      '+(a)',
      '!(a)',
      '/',
      '\\',
      '[',
      '{',
      'packages/',
      '../',
      './',
      'a',
    );
  return `packages/${Array.from({ length: random.between(1, 40) }, piece).join('')}b`;
}

/** Most are small, so that many can be tried; some as large as is read. */
function size(random: Random, most: number): number {
  return random.between(1, random.chance(0.05) ? most : Math.min(most, random.chance(0.5) ? 200 : 4_000));
}

const shapes: readonly ((random: Random, name: string) => string | Buffer)[] = [
  (_, name) => valid[name] ?? '{}',
  (random) => some(random, openers).repeat(size(random, 20_000)),
  (random) => {
    const [open, close] = random.pick(
      ['[', ']'],
      ['{"a":', '}'],
      ['(', ')'],
      ['<a>', '</a>'],
      ['[a.', ']'],
      ['{a: ', '}'],
    );
    const depth = size(random, 60_000);
    return `${open.repeat(depth)}1${close.repeat(depth)}`;
  },
  (random) => some(random, characters).repeat(size(random, 250_000)),
  (random) => {
    const [one, other] = [some(random, characters), some(random, openers)];
    return `${one}${other}`.repeat(size(random, 60_000));
  },
  (random) => Buffer.from(Array.from({ length: size(random, 20_000) }, () => random.between(0, 255))),
  (_, name) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(valid[name] ?? '{"a":1}', 'utf16le')]),
  (random) => {
    const lines = [`a0: &a0 [${'x,'.repeat(random.between(1, 20))}x]`];
    for (let at = 1; at < random.between(2, 14); at += 1)
      lines.push(
        `a${at}: &a${at} [${Array(9)
          .fill(`*a${at - 1}`)
          .join(',')}]`,
      );
    return `${lines.join('\n')}\nservices: *a${lines.length - 1}\npackages: *a1\n<<: *a0\n`;
  },
  (random) => Array.from({ length: size(random, 8_000) }, (_, at) => `k${at}: &a${at} x`).join('\n'),
  (random) =>
    JSON.stringify({
      workspaces: Array.from({ length: size(random, 300) }, () => pattern(random)),
      packages: [pattern(random)],
    }),
  (random) =>
    `[workspace]\nmembers = ${JSON.stringify(Array.from({ length: 20 }, () => pattern(random)))}\nexclude = ["${'*a'.repeat(90)}"]\n`,
  (random) =>
    `packages:\n${Array.from({ length: 30 }, () => `  - ${JSON.stringify(pattern(random))}`).join('\n')}\n`,
  (random) =>
    `{"__proto__":{"a":1},"constructor":{"prototype":{"x":1}},"scripts":{"__proto__":"x","start":${JSON.stringify(some(random, openers).repeat(1_500))}},"dependencies":{"__proto__":"1","express":"${'>'.repeat(500)}"},"engines":{"node":"${'>=1 || '.repeat(400)}1"}}`,
  (random) =>
    Array.from({ length: size(random, 20_000) }, (_, at) => `KEY_${at}=\${KEY_${at + 1}:-"x}`).join(
      random.pick('\n', '\r\n', '\r'),
    ),
  (random) =>
    `FROM ${'a'.repeat(size(random, 30_000))}\n${'ENV a=$a$a$a$a\n'.repeat(size(random, 500))}RUN <<E\n${'\\\n'.repeat(500)}CMD [${'"a",'.repeat(500)}"a"]`,
  (random) =>
    `${'import os\n'.repeat(20)}os.environ[${'"'.repeat(size(random, 3_000))}]\nos.getenv(${'('.repeat(500)}`,
  (random) => `process.env.A;app.listen(${'process.env.P||'.repeat(size(random, 5_000))}3000)`,
  (random) => {
    const opener = some(random, openers);
    return `process.env.A;${opener.repeat(random.between(1, random.chance(0.4) ? 60_000 : 1_000) / opener.length)}`;
  },
];

export function contentFor(random: Random, name: string): string | Buffer {
  const make = random.chance(0.35) ? shapes[0] : shapes[random.between(0, shapes.length - 1)];
  const content = make?.(random, name) ?? '';
  if (!random.chance(0.15)) return content;
  // Something that is read, with something that hurts in the middle.
  const start = valid[name] ?? 'process.env.A\n';
  const at = random.between(0, start.length);
  return `${start.slice(0, at)}${content.toString('utf8').slice(0, 100_000)}${start.slice(at)}`;
}

export function nameFor(random: Random): string {
  if (random.chance(0.7)) return some(random, manifestNames);
  return some(random, sourceNames);
}
