/**
 * Frameworks as data. The first entry that fits counts, so that what is built on something else stands before it.
 * `kind` says what comes out of a build: files for a browser, a server, or either, which `rendering.ts` decides.
 */
import { bundled } from './frameworks-bundled.ts';
import { servers } from './frameworks-servers.ts';
import { whole } from './frameworks-whole.ts';

export interface Framework {
  readonly name: string;
  /** Any of these among the dependencies. */
  readonly packages: readonly string[];
  /** Or any of these files. */
  readonly files?: readonly string[];
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

export const frameworks = { whole, servers, bundled } as const;
