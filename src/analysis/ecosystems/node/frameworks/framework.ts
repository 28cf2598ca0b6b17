/**
 * A framework as data: how it is known, what comes out of its build, and every rule that is its own. Whoever looks at a
 * package asks the entry; nobody else knows a framework by its name.
 */
import type { Evidenced } from '../../../evidence.ts';
import type { StaticOutput, Warning } from '../../../result.ts';
import type { NodePackage } from '../node-package.ts';

export interface NodeFramework {
  readonly name: string;
  /** Any of these among the dependencies. */
  readonly packages: readonly string[];
  /** Or any of these files. */
  readonly files?: readonly string[];
  /** Where its package alone is not enough, as it is used without the framework too. */
  readonly isUsed?: (package_: NodePackage) => boolean;
  /** What comes out of a build: files for a browser, a server, or either, which `rendering` decides. */
  readonly kind: 'static' | 'server' | 'either';
  readonly rendering?: RenderingRule;
  /** Programs for where there is no script. One that begins with `node ` needs no program of a package. */
  readonly build?: string;
  readonly start?: string | ((package_: NodePackage) => string | undefined);
  /** Without one of these files there is nothing to build. */
  readonly builtFrom?: readonly string[];
  /** Folder of the files for the browser. */
  readonly output?: string;
  /** That folder lies under the one of the pages, which is an argument of its program. */
  readonly isOutputBelowPages?: boolean;
  readonly configs?: readonly string[];
  /** Where the configuration names that folder. */
  readonly outputKeys?: readonly string[];
  /** Folders that only an export fills: a host that is told to publish one of them gets files, whatever else is set. */
  readonly exports?: readonly string[];
  readonly isSinglePage?: boolean;
  readonly port?: number;
  /** Where the configuration names the port, in files of these names where they are not `configs`. */
  readonly portSetting?: { readonly key: string; readonly files?: readonly string[] };
  /** A path that it answers by itself while it is well. */
  readonly health?: string;
  /** What scripts call, by name. */
  readonly programs?: Readonly<Record<string, FrameworkProgram>>;
  /** Executors of Nx that build an app of it. */
  readonly nx?: { readonly executors: readonly string[]; readonly makes: 'files' | 'server' };
  /** A bundler, which a server of the app's own may stand beside. */
  readonly isBundler?: boolean;
  /** A library for a server: without a file of the app's own that is started, there is nothing to run. */
  readonly isLibrary?: boolean;
  /** It shows what is in the package, which is the real thing. */
  readonly isShowcase?: boolean;
  /** Its workspace is one app. */
  readonly ownsMembers?: boolean;
  /** Of the app an image needs only the folder of the server, and `public` where the build does not copy that. */
  readonly runsFrom?: { readonly withPublic: boolean };
  /** What its build keeps for the next one. */
  readonly buildCache?: string;
}

/** One of its programs, by the word behind it; `''` for none. */
export interface FrameworkProgram {
  /** It only develops. */
  readonly develops?: readonly string[];
  /** It hands out what was built, on this port where nothing else is said. */
  readonly previews?: Readonly<Record<string, number>>;
  /** Options that name the output folder. */
  readonly output?: readonly string[];
}

export type Rendering =
  | {
      readonly kind: 'static';
      readonly output: Evidenced<StaticOutput>;
      readonly warnings?: readonly Warning[];
    }
  | { readonly kind: 'server'; readonly start?: Evidenced<string>; readonly warnings?: readonly Warning[] };

/** `static` and `server` where the entry says the rest. `file` is the configuration, else the manifest. */
export type RenderingRule = (
  package_: NodePackage,
  config: unknown,
  file: string,
) => 'static' | 'server' | Rendering;

type More = Partial<NodeFramework>;

/** Its package has its name, unless `more` says otherwise. */
export function server(name: string, port: number, more: More = {}): NodeFramework {
  return { name, packages: [name], kind: 'server', port, ...more };
}

export function library(name: string, port: number, more: More = {}): NodeFramework {
  return server(name, port, { isLibrary: true, ...more });
}

export function either(
  name: string,
  build: string,
  output: string,
  rendering: RenderingRule,
  more: More = {},
): NodeFramework {
  return { name, packages: [name], kind: 'either', build, output, rendering, port: 3000, ...more };
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
