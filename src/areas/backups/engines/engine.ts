/**
 * What each kind of data must be able to do to be backed up: be dumped in one consistent piece, be loaded into a staging
 * copy next to what is live, be compared, and be swapped with what is live. The order in which that happens, and what
 * happens after a failure, is the operations' business; an engine looks before it acts, and doing the same twice does no
 * harm.
 */
import type { Readable } from 'node:stream';
import type { ServiceKind } from '../../../analysis/result.ts';
import type { DockerHost } from '../../../engine/docker-host.ts';
import type { Credentials } from '../../services/kinds/kind.ts';

export type SourceKind = ServiceKind | 'volume';

export interface ServiceSource {
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

/** The live data. */
export type DataSource =
  | ServiceSource
  | {
      readonly type: 'volume';
      readonly kind: 'volume';
      /** Docker's name of it. */
      readonly volume: string;
    };

/**
 * What a restored copy is compared by: objects and counts, taken in the very snapshot that is dumped. Keys are words for
 * people, such as `rows of public.users`; equal content has equal texts.
 */
export type ContentStats = Readonly<Record<string, number | string>>;

export interface Dump {
  /** Compressed by zstd, on the server where it has it. Destroying it ends the tool there. */
  readonly content: Readable;
  /**
   * Settled after the content has ended: fails where the tool did. `warning` is for what is true but weaker, such as
   * files that changed while they were read.
   */
  readonly ended: Promise<{
    readonly contentStats: ContentStats;
    readonly rawBytes: number;
    readonly warning: string | null;
  }>;
}

/** A dump or an upload on the server, written and removed by the operation. */
export interface ServerFile {
  /** Below /var/lib/slipway/backups, made of ids. */
  readonly path: string;
  readonly bytes: number;
}

export type RestoreVerdict =
  | { readonly outcome: 'restored'; readonly contentStats: ContentStats }
  /** The backup cannot be restored. */
  | { readonly outcome: 'corrupt'; readonly reason: string }
  /** It could not be tried, which says nothing against the backup. */
  | { readonly outcome: 'unverifiable'; readonly reason: string };

/** Of a staging or previous copy: a database, a folder or a volume. Small letters, digits and `_`, made by us of ids. */
export type CopyName = string;

/** `base` is what the file is loaded into: nothing, or a copy of the live data. */
export type LoadInput = { readonly staging: CopyName; readonly base: 'empty' | 'copy' } & (
  | { readonly content: 'dump' }
  /** What is in it nobody knows: it may become at most so much data, beside what there is. */
  | { readonly content: 'upload'; readonly mostBytes: number }
);

export interface SwapNames {
  readonly staging: CopyName;
  readonly previous: CopyName;
}

export interface EngineProgress {
  log(line: string): void;
  /** Of its own work. */
  fraction(done: number): void;
}

export interface Engine {
  /** Shown with each backup: `pg_dump custom`, `mariadb-dump`, `rdb`, `tar`. */
  readonly format: string;
  dump(host: DockerHost, source: DataSource): Promise<Dump>;
  /**
   * Loads the file into a scratch container of the same image (without network, limited, labelled with `scratchId`) and
   * gives the stats of what came out. Checks memory and disk first. Leaves nothing, however it ends; `removeScratch`
   * with the same id removes what a kill left.
   */
  verifyRestore(
    host: DockerHost,
    source: DataSource,
    file: ServerFile,
    scratchId: string,
    progress: EngineProgress,
  ): Promise<RestoreVerdict>;
  /** Loads the file into a staging copy. Detached from us: a second call joins the first. */
  loadStaging(
    host: DockerHost,
    source: DataSource,
    file: ServerFile,
    input: LoadInput,
    progress: EngineProgress,
  ): Promise<void>;
  /**
   * The staging copy becomes live, and what was live is kept as `previous`. As nearly atomic as the database allows;
   * called again after a kill it completes what was begun. With the names exchanged it takes that back.
   */
  swap(host: DockerHost, source: DataSource, names: SwapNames): Promise<void>;
  /** Removes a staging or previous copy; nothing where there is none. */
  discard(host: DockerHost, source: DataSource, name: CopyName): Promise<void>;
}
