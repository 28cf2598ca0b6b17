/** The languages of a commit, by the endings of its files: simple, and enough to choose a builder by. */
import { extname } from 'node:path/posix';
import type { TreeEntry } from './trees.ts';

const byEnding: Readonly<Record<string, string>> = {
  '.astro': 'Astro',
  '.c': 'C',
  '.cjs': 'JavaScript',
  '.cpp': 'C++',
  '.cs': 'C#',
  '.css': 'CSS',
  '.ex': 'Elixir',
  '.exs': 'Elixir',
  '.go': 'Go',
  '.h': 'C',
  '.html': 'HTML',
  '.java': 'Java',
  '.js': 'JavaScript',
  '.jsx': 'JavaScript',
  '.kt': 'Kotlin',
  '.mjs': 'JavaScript',
  '.mts': 'TypeScript',
  '.php': 'PHP',
  '.py': 'Python',
  '.rb': 'Ruby',
  '.rs': 'Rust',
  '.scss': 'SCSS',
  '.sh': 'Shell',
  '.svelte': 'Svelte',
  '.swift': 'Swift',
  '.ts': 'TypeScript',
  '.tsx': 'TypeScript',
  '.vue': 'Vue',
};
const byName: Readonly<Record<string, string>> = { Dockerfile: 'Dockerfile', Makefile: 'Makefile' };

/** Bytes by language, the largest first. Copies of other people's code do not count. */
export function languagesOf(entries: readonly TreeEntry[]): Record<string, number> {
  const bytes = new Map<string, number>();
  for (const { mode, path, size } of entries) {
    const language = byName[path.slice(path.lastIndexOf('/') + 1)] ?? byEnding[extname(path)];
    const counts = mode.startsWith('100') && !/(^|\/)(node_modules|vendor|dist)\//.test(path);
    if (language && counts && size > 0) bytes.set(language, (bytes.get(language) ?? 0) + size);
  }
  return Object.fromEntries([...bytes].sort(([, one], [, other]) => other - one));
}
