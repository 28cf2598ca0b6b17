/** Frameworks of Rust by the crate that means them, and those that build a page instead of a program. */
import type { Project } from '../../project.ts';
import { asEntries, objectAt, stringAt } from '../../readers/shape.ts';
import { isParsed, type Parsed } from '../../repository.ts';

export interface RustFramework {
  readonly name: string;
  readonly crate: string;
  readonly port: number | null;
  readonly build?: string;
  readonly start?: (binary: string) => string;
  /** The folder that is served, where what is built runs in a browser. */
  readonly output?: string;
}

const servers: readonly (readonly [crate: string, name: string, port: number])[] = [
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
  project: Project,
  manifest: Parsed,
  packageName: string,
): RustFramework | undefined {
  const all = dependenciesOf(manifest);
  const isLunatic = ['.cargo/config.toml', '.cargo/config'].some((name) =>
    project.find(name, /^\s*runner\s*=\s*["']lunatic/),
  );
  if (isLunatic || all.has('lunatic')) return lunatic;
  const isLeptosServer =
    isParsed(objectAt(manifest, 'package', 'metadata').leptos) ||
    all.has('leptos_axum') ||
    all.has('leptos_actix');
  if (all.has('leptos') && isLeptosServer)
    return { name: 'leptos', crate: 'leptos', port: 3000, build: 'cargo leptos build --release' };
  const page = browserFramework(project, all, packageName);
  if (page) return page;
  const server = servers.find(
    ([crate]) => all.has(crate) || (crate === 'rocket' && all.has('shuttle-rocket')),
  );
  return server && { crate: server[0], name: server[1], port: server[2] };
}

/** Names with what the workspace root declares left to it: only what the package itself lists counts. */
function dependenciesOf(manifest: Parsed): ReadonlySet<string> {
  const targets = asEntries(manifest.target).map(([, target]) => objectAt(target, 'dependencies'));
  return new Set(
    [objectAt(manifest, 'dependencies'), ...targets].flatMap((table) =>
      Object.entries(table).map(([name, wanted]) => stringAt(wanted, 'package') ?? name),
    ),
  );
}

const lunatic: RustFramework = {
  name: 'lunatic',
  crate: 'lunatic',
  port: null,
  build: 'cargo build --release --target wasm32-wasi',
  start: (binary) => `lunatic run target/wasm32-wasi/release/${binary}.wasm`,
};

function browserFramework(
  project: Project,
  all: ReadonlySet<string>,
  packageName: string,
): RustFramework | undefined {
  if (all.has('dioxus') && project.has('Dioxus.toml') && !all.has('axum'))
    return {
      name: 'dioxus',
      crate: 'dioxus',
      port: null,
      build: 'dx build --release --platform web',
      output: `target/dx/${packageName}/release/web/public`,
    };
  const isTrunk = project.has('Trunk.toml') || project.find('index.html', /data-trunk/) !== undefined;
  const name = ['yew', 'leptos', 'sycamore', 'dioxus', 'perseus', 'seed'].find((each) => all.has(each));
  const isPage = name && project.has('index.html') && !all.has('axum') && !all.has('actix-web');
  if (!isTrunk && !isPage) return undefined;
  const crate = name ?? 'trunk';
  return { name: crate, crate, port: null, build: 'trunk build --release', output: 'dist' };
}
