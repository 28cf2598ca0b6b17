/** A framework as data, and what comes out of its build. */
import type { Evidenced } from '../../../evidence.ts';
import type { StaticOutput } from '../../../result.ts';

export interface NodeFramework {
  readonly name: string;
  /** Any of these among the dependencies. */
  readonly packages: readonly string[];
  /** Or any of these files. */
  readonly files?: readonly string[];
  /** What comes out of a build: files for a browser, a server, or either, which `rendering.ts` decides. */
  readonly kind: 'static' | 'server' | 'either';
  /** Programs for where there is no script. */
  readonly build?: string;
  readonly start?: string;
  /** What the start is when it needs no program of a package. */
  readonly node?: string;
  /** Folder of the files for the browser. */
  readonly output?: string;
  readonly configs?: readonly string[];
  /** Where the configuration names that folder. */
  readonly outputKeys?: readonly string[];
  readonly isSinglePage?: boolean;
  readonly port?: number;
  /** A bundler, which a server of the app's own may stand beside. */
  readonly isBundler?: boolean;
  /** Its workspace is one app. */
  readonly ownsMembers?: boolean;
}

export type Rendering =
  | { readonly kind: 'static'; readonly output: Evidenced<StaticOutput> }
  | { readonly kind: 'server'; readonly start?: Evidenced<string> };

type More = Partial<NodeFramework>;

/** Its package has its name, unless `more` says otherwise. */
export function server(name: string, port: number, more: More = {}): NodeFramework {
  return { name, packages: [name], kind: 'server', port, ...more };
}

export function either(name: string, build: string, output: string, more: More = {}): NodeFramework {
  return { name, packages: [name], kind: 'either', build, output, port: 3000, ...more };
}

export function site(name: string, build: string, output: string, more: More = {}): NodeFramework {
  return { name, packages: [name], kind: 'static', build, output, ...more };
}

export function singlePage(name: string, build: string, output: string, more: More = {}): NodeFramework {
  return site(name, build, output, { isSinglePage: true, ...more });
}

export function bundler(name: string, build: string, output: string, more: More = {}): NodeFramework {
  return singlePage(name, build, output, { isBundler: true, ...more });
}

/** A configuration file by the endings in which it may be written. */
export function config(name: string): readonly string[] {
  return ['ts', 'js', 'mjs', 'mts', 'cjs', 'cts'].map((ending) => `${name}.${ending}`);
}

export const viteConfigs = config('vite.config');
/** Where Nitro, which several frameworks build with, puts its server. */
export const nitroStart = 'node .output/server/index.mjs';
