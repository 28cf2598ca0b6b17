/**
 * What is not sent to be built. Ours comes first and the repository's own lines after it, so that theirs win. Files
 * that a build never reads are left out; where that is not certain they stay, as a file too many costs less than one
 * that is missing.
 */
import { join } from '../repository.ts';
import type { Request } from './request.ts';

const always = [
  '**/.git',
  '**/.github',
  '**/.gitlab',
  '**/.idea',
  '**/.vscode',
  '**/.DS_Store',
  '**/*.log',
  '**/.env',
  '**/.env.*',
  '!**/.env.production',
  '!**/.env.example',
  '**/.nyc_output',
  '**/test-results',
  '**/playwright-report',
  '**/Dockerfile*',
  '**/.dockerignore',
];

const byLanguage: Readonly<Record<string, readonly string[]>> = {
  javascript: [
    '**/node_modules',
    '**/.next',
    '**/.nuxt',
    '**/.output',
    '**/.svelte-kit',
    '**/.astro',
    '**/.turbo',
    '**/.cache',
    '**/.pnp.*',
    '**/.yarn/cache',
    '**/.yarn/unplugged',
    '**/.yarn/install-state.gz',
    '**/.pnpm-store',
  ],
  python: [
    '**/__pycache__',
    '**/*.pyc',
    '**/.venv',
    '**/venv',
    '**/.pytest_cache',
    '**/.mypy_cache',
    '**/.tox',
    '**/.ruff_cache',
  ],
  rust: ['**/target/release', '**/target/debug'],
  java: ['**/target/classes', '**/.gradle'],
  php: ['**/node_modules'],
  ruby: ['**/vendor/bundle', '**/node_modules', '**/.bundle'],
  csharp: ['**/bin/Debug', '**/bin/Release', '**/obj'],
  elixir: ['**/_build', '**/node_modules'],
};
const sameAs: ReadonlyMap<string, string> = new Map([
  ['typescript', 'javascript'],
  ['kotlin', 'java'],
  ['scala', 'java'],
  ['fsharp', 'csharp'],
]);

/** Folders of tests, in languages whose builds do not look for them. */
const tested = new Set(['javascript', 'typescript', 'python', 'ruby', 'php']);
const testFolders = ['test', 'tests', '__tests__', 'spec', 'e2e', 'cypress'];

export function dockerignoreOf(request: Request): string {
  const { language, framework } = request.app;
  const known = Object.hasOwn(byLanguage, language) ? language : sameAs.get(language);
  const lines = [...always, ...((known === undefined ? undefined : byLanguage[known]) ?? [])];
  // Symfony reads its committed .env at every start. Others are sent where all they hold ends up in the browser.
  const env = join(request.directory, '.env');
  if (framework === 'symfony' || holdsPublicOnly(request.files.text(env))) lines.push(`!${env}`);
  if (tested.has(language))
    lines.push(
      ...testFolders.filter((name) => isLeftOut(request, name)).map((name) => join(request.directory, name)),
    );
  const own = request.files.text('.dockerignore')?.replaceAll('\r\n', '\n').trim();
  if (own === undefined || own === '') return `${lines.join('\n')}\n`;
  return `${lines.join('\n')}\n\n# From the repository:\n${own}\n`;
}

const publicKey = /^(VITE|NEXT_PUBLIC|NUXT_PUBLIC|PUBLIC|REACT_APP|VUE_APP|GATSBY|EXPO_PUBLIC|NG_APP)_/;

/** By the prefixes with which bundlers take a variable over into their output. */
function holdsPublicOnly(text: string | undefined): boolean {
  const keys = (text ?? '')
    .split('\n')
    .flatMap((line) => /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=/.exec(line)?.[1] ?? []);
  return keys.length > 0 && keys.every((key) => publicKey.test(key));
}

/** Not where something of ours names the folder: a member of the workspace, a manifest, a command. */
function isLeftOut(request: Request, name: string): boolean {
  const { files, monorepo, directory } = request;
  const path = join(directory, name);
  if (!files.directories.has(path)) return false;
  if (monorepo?.members.some((member) => member === path || member.startsWith(`${path}/`))) return false;
  const manifests = [
    'package.json',
    'pyproject.toml',
    'composer.json',
    'tsconfig.json',
    'tsconfig.build.json',
  ];
  const texts = [
    ...manifests.map((each) => files.text(join(directory, each)) ?? ''),
    request.installCommand ?? '',
    request.buildCommand ?? '',
    request.startCommand ?? '',
    request.staticOutput?.directory ?? '',
  ];
  return !texts.some(
    (each) => each.includes(`${name}/`) || each.includes(`./${name}`) || each.includes(`"${name}"]`),
  );
}
