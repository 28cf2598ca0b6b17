/** Frameworks of Rust by the crate that means them, and those that build a page instead of a program. */
import { isParsed, join, type Parsed, type Repository } from '../../repository.ts';
import { findIn } from '../code.ts';

export interface RustFramework {
  readonly name: string;
  readonly crate: string;
  readonly port: number | null;
  readonly build?: (packageName: string) => string;
  readonly start?: (binary: string) => string;
  /** The folder that is served, where what is built runs in a browser. */
  readonly output?: (packageName: string) => string;
}

const servers: readonly (readonly [string, string, number | null])[] = [
  ['loco-rs', 'loco', 5150],
  ['rocket', 'rocket', 8000],
  ['axum', 'axum', 3000],
  ['actix-web', 'actix', 8080],
  ['warp', 'warp', 3030],
  ['poem', 'poem', 3000],
  ['salvo', 'salvo', 8698],
  ['tide', 'tide', 8080],
  ['gotham', 'gotham', 7878],
  ['ntex', 'ntex', 8080],
  ['viz', 'viz', 3000],
  ['trillium', 'trillium', 8080],
  ['pavex', 'pavex', 8000],
  ['rouille', 'rouille', 8000],
  ['iron', 'iron', 3000],
  ['nickel', 'nickel', 6767],
  ['tiny_http', 'tiny-http', 8000],
  ['tonic', 'tonic', 50_051],
  ['hyper', 'hyper', 3000],
];

export function rustFramework(
  repository: Repository,
  directory: string,
  manifest: Parsed,
  found: Parsed,
): RustFramework | undefined {
  const all = dependenciesOf(manifest);
  const metadata = isParsed(found.metadata) ? found.metadata : {};
  if (isLunatic(repository, directory, all)) return lunatic;
  if (all.has('leptos') && (isParsed(metadata.leptos) || all.has('leptos_axum') || all.has('leptos_actix'))) {
    return { name: 'leptos', crate: 'leptos', port: 3000, build: () => 'cargo leptos build --release' };
  }
  const page = browserFramework(repository, directory, all);
  if (page) return page;
  const server = servers.find(
    ([crate]) => all.has(crate) || (crate === 'rocket' && all.has('shuttle-rocket')),
  );
  return server && { crate: server[0], name: server[1], port: server[2] };
}

/** Names with what the workspace root declares left to it: only what the package itself lists counts. */
function dependenciesOf(manifest: Parsed): ReadonlySet<string> {
  const found = new Set<string>();
  const add = (table: unknown) => {
    if (!isParsed(table)) return;
    for (const [name, wanted] of Object.entries(table)) {
      found.add(isParsed(wanted) && typeof wanted.package === 'string' ? wanted.package : name);
    }
  };
  add(manifest.dependencies);
  if (isParsed(manifest.target)) {
    for (const each of Object.values(manifest.target)) if (isParsed(each)) add(each.dependencies);
  }
  return found;
}

function isLunatic(repository: Repository, directory: string, all: ReadonlySet<string>): boolean {
  if (all.has('lunatic')) return true;
  return ['.cargo/config.toml', '.cargo/config']
    .map((name) => join(directory, name))
    .some((path) => findIn(repository, path, /^\s*runner\s*=\s*["']lunatic/) !== undefined);
}

const lunatic: RustFramework = {
  name: 'lunatic',
  crate: 'lunatic',
  port: null,
  build: () => 'cargo build --release --target wasm32-wasi',
  start: (binary) => `lunatic run target/wasm32-wasi/release/${binary}.wasm`,
};

function browserFramework(
  repository: Repository,
  directory: string,
  all: ReadonlySet<string>,
): RustFramework | undefined {
  const dioxus = repository.firstOf(directory, ['Dioxus.toml']);
  if (all.has('dioxus') && dioxus && !all.has('axum')) {
    const output = (name: string) => `target/dx/${name}/release/web/public`;
    return {
      name: 'dioxus',
      crate: 'dioxus',
      port: null,
      build: () => 'dx build --release --platform web',
      output,
    };
  }
  const page = join(directory, 'index.html');
  const isTrunk =
    repository.has(join(directory, 'Trunk.toml')) || findIn(repository, page, /data-trunk/) !== undefined;
  const name = ['yew', 'leptos', 'sycamore', 'dioxus', 'perseus', 'seed'].find((each) => all.has(each));
  if (!isTrunk && !(name && repository.has(page) && !all.has('axum') && !all.has('actix-web')))
    return undefined;
  return {
    name: name ?? 'trunk',
    crate: name ?? 'trunk',
    port: null,
    build: () => 'trunk build --release',
    output: () => 'dist',
  };
}
