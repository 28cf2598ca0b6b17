/**
 * Where backups lie: a folder of this machine, or a bucket of any S3. Owns names, parts, checks and what a broken write
 * left; refuses to call anything stored that does not lie there as it was sent, and to leave its own prefix.
 * Knows nothing of databases, of workspaces, or of what the bytes mean.
 */

export interface Stored {
  /** As they lie there. */
  readonly bytes: number;
  /** Hexadecimal, over the same bytes. */
  readonly sha256: string;
}

export interface StorageOptions {
  readonly signal: AbortSignal;
}

/**
 * A name is made by us of ids: letters, digits, `-`, `.` and `/`. Failures are faults: `storage_refused` (keys, bucket or
 * rights), `storage_full`, `storage_unreachable` (worth another try), `storage_failed` (it broke its promise), and
 * `backup_missing` where there is no such object.
 */
export interface Storage {
  /**
   * Whole or not at all, with constant memory. A second put of the same name replaces the first, and what a broken one
   * left; a first that is there stays until the second is whole. What the content fails with is thrown as it is.
   */
  put(name: string, content: AsyncIterable<Buffer>, options: StorageOptions): Promise<Stored>;
  /** From its first byte on; ends with a fault where it is cut short. */
  read(name: string, options: StorageOptions): AsyncIterable<Buffer>;
  /** Does nothing where there is none. */
  remove(name: string, options: StorageOptions): Promise<void>;
  /** Takes away what broken puts left under names that begin like this. */
  clearBroken(prefix: string, options: StorageOptions): Promise<void>;
  /** Writes, reads and removes a small object: for whoever sets it up to hear at once what is wrong. */
  prove(options: StorageOptions): Promise<void>;
}
