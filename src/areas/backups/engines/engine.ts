/**
 * What each kind of data must be able to do to be backed up: be dumped in one consistent piece, be loaded beside what is
 * live, be compared, and change places with what is live. The order in which that happens, and what happens after a
 * failure, is the operations' business; an engine looks before it acts, and doing the same twice does no harm.
 */
import type { Readable } from 'node:stream';
import type { ServiceKind } from '../../../analysis/result.ts';
import type { DockerHost } from '../../../engine/docker-host.ts';
import type { Credentials } from '../../services/kinds/kind.ts';

export type SourceKind = ServiceKind | 'volume';

/** What is there to back up, where it stands. */
export type Source =
  | {
      readonly type: 'service';
      readonly kind: ServiceKind;
      /** Of the kind's images; a dump is loaded by the same major version only. */
      readonly version: string;
      readonly image: string;
      /** Running, and healthy when the engine is asked. */
      readonly container: string;
      readonly volume: string;
      readonly volumePath: string;
      readonly credentials: Credentials;
      readonly memoryMb: number;
    }
  | {
      readonly type: 'volume';
      readonly kind: 'volume';
      /** Docker's name of it. */
      readonly volume: string;
    };

/**
 * What a restored copy is compared by: objects and counts, taken in the very snapshot that is dumped. Keys are words for
 * people, such as `rows of public.users`; equal figures are an equal text.
 */
export type Figures = Readonly<Record<string, number | string>>;

export interface Dump {
  /** Compressed by zstd, on the server where it has it. Destroying it ends the tool there. */
  readonly content: Readable;
  /**
   * Settled after the content has ended: fails where the tool did. `warning` is for what is true but weaker, such as
   * files that changed while they were read.
   */
  readonly ended: Promise<{
    readonly figures: Figures;
    readonly rawBytes: number;
    readonly warning: string | null;
  }>;
}

/** A dump or an upload that lies on the server, made and removed by the operation. */
export interface ServerFile {
  /** Below /var/lib/slipway/backups, made of ids. */
  readonly path: string;
  readonly bytes: number;
}

export type Verdict =
  | { readonly outcome: 'loaded'; readonly figures: Figures }
  /** It was tried, and does not come out: the backup is no good. */
  | { readonly outcome: 'broken'; readonly reason: string }
  /** It could not be tried, which says nothing against it; the sentence says why. */
  | { readonly outcome: 'untried'; readonly reason: string };

/** Beside what is live: a database, a folder or a volume of this name. Small letters, digits and `_`, made by us of ids. */
export type BesideName = string;

export type Begin = 'empty' | 'copy';

export interface Progress {
  log(line: string): void;
  /** Of its own work. */
  fraction(done: number): void;
}

export interface Engine {
  readonly kind: SourceKind;
  /** Shown with each backup: `pg_dump custom`, `mariadb-dump`, `rdb`, `tar`. */
  readonly format: string;
  dump(site: DockerHost, source: Source): Promise<Dump>;
  /**
   * Loads it into a throw-away container of the same image (without network, limited, labelled with `mark`), compares
   * nothing: gives the figures of what came out. Checks memory and disk first. Leaves nothing, however it ends;
   * `clearAway` with the same mark removes what a kill left.
   */
  tryOut(
    site: DockerHost,
    source: Source,
    file: ServerFile,
    mark: string,
    progress: Progress,
  ): Promise<Verdict>;
  /** Loads it beside what is live. Detached from us: a second call joins the first. */
  loadBeside(
    site: DockerHost,
    source: Source,
    file: ServerFile,
    wish: { readonly beside: BesideName; readonly begin: Begin; readonly content: 'dump' | 'upload' },
    progress: Progress,
  ): Promise<void>;
  /**
   * What is beside becomes live, and what was live is kept under the name `before`. As nearly atomic as the database
   * allows; called again after a kill it completes what was begun. With the names exchanged it takes that back.
   */
  swap(
    site: DockerHost,
    source: Source,
    names: { readonly beside: BesideName; readonly before: BesideName },
  ): Promise<void>;
  /** Removes a beside or a before by its name; nothing where there is none. */
  discard(site: DockerHost, source: Source, name: BesideName): Promise<void>;
  /** Ends and removes the containers, units and folders that carry this mark. */
  clearAway(site: DockerHost, mark: string): Promise<void>;
}
