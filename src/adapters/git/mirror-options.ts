/** What mirrors are made with: where they lie, whom they may ask, and how large they may grow. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getCACertificates } from 'node:tls';
import type { Logger } from 'pino';
import type { OutboundFetch } from '../../outbound-fetch.ts';
import { writeFileAtomic } from '../../store/files.ts';
import type { UsageLimits } from './mirror/mirror-usage.ts';
import type { Setting } from './run-git.ts';
import type { Resolve } from './transport/transport.ts';

export interface MirrorsOptions {
  readonly folder: string;
  readonly resolve: Resolve;
  readonly fetch: OutboundFetch;
  readonly log: Pick<Logger, 'warn'>;
  readonly limits?: Partial<MirrorLimits>;
  /** Plain http too: only where private addresses are allowed. */
  readonly allowHttp?: boolean;
  /** Certificates in PEM that are trusted beside the usual ones. */
  readonly caFile?: string;
}

export interface MirrorLimits extends UsageLimits {
  /** Of one mirror on the disk, and of its LFS files. */
  readonly maxBytes: number;
  /** Of one fetch. */
  readonly timeoutMs: number;
  /** Of one look at a commit: a tree of a few bytes can take years to walk. */
  readonly readMs: number;
  /** Of each process of a fetch: a pack of a few bytes can unfold into all the memory that there is. */
  readonly memoryBytes: number;
  /** Of one mirror; when there are more, larger ones are made of them. */
  readonly maxPacks: number;
  /** Of one commit. */
  readonly maxEntries: number;
  readonly maxContentBytes: number;
}

export const defaultLimits: MirrorLimits = {
  maxBytes: 2 * 2 ** 30,
  maxOwnerBytes: 20 * 2 ** 30,
  keepFreeBytes: 2 ** 30,
  timeoutMs: 10 * 60_000,
  readMs: 60_000,
  memoryBytes: 2 * 2 ** 30,
  maxPacks: 40,
  maxEntries: 200_000,
  maxContentBytes: 4 * 2 ** 30,
};

/** Git takes one file in place of its own list, so the usual ones are written beside the given. */
export function trustSettings({ caFile, folder }: MirrorsOptions): Setting[] {
  if (caFile === undefined) return [];
  const file = join(folder, 'trusted.pem');
  writeFileAtomic(file, [...getCACertificates('default'), readFileSync(caFile, 'utf8')].join('\n'), 0o600);
  return [['http.sslCAInfo', file]];
}
