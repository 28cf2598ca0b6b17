/** How much of the repository is written in which language, by bytes of source. Listed sizes are enough for it. */
import { nameOf, parentOf, type Repository } from '../repository.ts';

const endings: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    javascript: 'js mjs cjs jsx coffee',
    typescript: 'ts mts cts tsx',
    vue: 'vue',
    svelte: 'svelte',
    astro: 'astro',
    python: 'py pyw',
    go: 'go',
    rust: 'rs',
    java: 'java',
    kotlin: 'kt kts',
    scala: 'scala',
    groovy: 'groovy',
    php: 'php phtml',
    ruby: 'rb erb',
    csharp: 'cs razor cshtml',
    fsharp: 'fs',
    elixir: 'ex exs heex eex',
    erlang: 'erl',
    clojure: 'clj cljs cljc',
    haskell: 'hs lhs',
    crystal: 'cr',
    dart: 'dart',
    swift: 'swift',
    zig: 'zig',
    gleam: 'gleam',
    c: 'c h',
    cpp: 'cc cpp cxx hpp hh',
    scheme: 'scm ss sld rkt',
    cobol: 'cob cbl',
    lua: 'lua',
    shell: 'sh bash',
    perl: 'pl pm psgi',
    html: 'html htm',
    css: 'css scss sass less',
  }).flatMap(([language, list]) => list.split(' ').map((ending) => [ending, language])),
);

function languageOfFile(path: string): string | undefined {
  const name = nameOf(path);
  const at = name.lastIndexOf('.');
  return at < 1 ? undefined : endings[name.slice(at + 1)];
}

export function languageShares(
  { entries, folders }: Repository,
  root: string,
): { name: string; share: number }[] {
  const sizes = new Map<string, number>();
  const prefix = root === '' ? '' : `${root}/`;
  let total = 0;
  for (const { path, type, size } of entries) {
    if (type !== 'file' || size === 0 || !path.startsWith(prefix)) continue;
    const language = languageOfFile(path);
    if (language === undefined) continue;
    if (folders.of(parentOf(path) ?? '').isBuilt) continue;
    sizes.set(language, (sizes.get(language) ?? 0) + size);
    total += size;
  }
  const shares = [...sizes]
    .sort(([one, oneSize], [other, otherSize]) => otherSize - oneSize || (one < other ? -1 : 1))
    .map(([name, size]) => ({ name, share: Math.round((size / total) * 10_000) / 10_000 }));
  const sum = shares.reduce((before, { share }) => before + share, 0);
  // The largest takes what rounding left over.
  const [largest] = shares;
  if (largest) largest.share = Math.round((largest.share + 1 - sum) * 10_000) / 10_000;
  return shares;
}
