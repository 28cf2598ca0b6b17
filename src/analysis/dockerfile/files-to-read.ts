/** Which files a Dockerfile is written from; the rest need only be listed. */
import type { TreeEntry } from '../tree.ts';

const names = new Set([
  '.dockerignore',
  '.env',
  '.npmrc',
  '.yarnrc.yml',
  'Cargo.lock',
  'Cargo.toml',
  'Directory.Build.props',
  'Gemfile.lock',
  'Pipfile',
  'bun.lock',
  'composer.json',
  'composer.lock',
  'deno.json',
  'go.mod',
  'go.work',
  'mix.exs',
  'package-lock.json',
  'package.json',
  'pnpm-lock.yaml',
  'pom.xml',
  'pyproject.toml',
  'tsconfig.build.json',
  'tsconfig.json',
  'yarn.lock',
]);
const patterns = [
  /(?:^|\/)next\.config\.[cm]?[jt]s$/,
  /(?:^|\/)(?:requirements|constraints|base)[^/]*\.txt$/,
  /(?:^|\/)requirements\/[^/]+\.txt$/,
  /\.(?:csproj|fsproj)$/,
];
const largest = 16 * 1024 * 1024;
const most = 2_000;

export function filesToRead(entries: readonly TreeEntry[]): string[] {
  const isWanted = ({ path, type, size }: TreeEntry) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    return (
      type === 'file' &&
      size <= largest &&
      (names.has(name) || patterns.some((pattern) => pattern.test(path)))
    );
  };
  return entries
    .filter(isWanted)
    .slice(0, most)
    .map(({ path }) => path);
}
