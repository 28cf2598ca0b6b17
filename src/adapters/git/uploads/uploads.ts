/**
 * Working trees that were uploaded: one bare repository each, with one commit, in a folder of their own beside the
 * mirrors. Owns how they are received, read and removed. Unlike mirrors they cannot be fetched again, so nothing here
 * removes one by itself; who needs which is the caller's to know.
 */
import { mkdirSync, statfsSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../../../fault.ts';
import { once } from '../../../once.ts';
import { bytesIn, namesIn } from '../files-in.ts';
import { pin } from '../mirror/fetch-mirror.ts';
import { Mirror } from '../mirror/mirror.ts';
import { Leases, MirrorFolder } from '../mirror/mirror-folder.ts';
import { bytesOf } from '../mirror/mirror-usage.ts';
import { type Commit, requireCommit } from '../objects/commits.ts';
import { requireGit } from '../run-git.ts';
import { checkedEntries } from './checked-entries.ts';
import { readTar } from './read-tar.ts';
import { type ArchiveLimits, unpack } from './unpack.ts';
import { type NewCommit, writeCommit } from './write-commit.ts';

export interface UploadLimits extends ArchiveLimits {
  /** Of all that one owner has. */
  readonly maxOwnerBytes: number;
  /** What is to stay free on the disk. */
  readonly keepFreeBytes: number;
}

/** Both are ids, never a user's text: they name a folder. */
export interface UploadPlace {
  readonly owner: string;
  readonly id: string;
}

export interface StoredUpload extends UploadPlace {
  readonly bytes: number;
  readonly changedAt: Date;
}

/** Each holds a process and a connection; those of one owner must not take all. */
const mostAtOnce = { owner: 3, all: 12 } as const;
const readMs = 60_000;

export class Uploads {
  readonly limits: UploadLimits;
  readonly #folder: string;
  readonly #leases = new Leases();
  readonly #ready = once(() => requireGit());
  readonly #receiving: string[] = [];

  constructor(folder: string, limits: UploadLimits) {
    this.#folder = folder;
    this.limits = limits;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  /** All of it or nothing: what breaks off, or is refused, leaves nothing behind. */
  async receive(
    place: UploadPlace,
    sent: AsyncIterable<Buffer>,
    commit: NewCommit,
    signal: AbortSignal,
  ): Promise<Commit> {
    const { owner } = place;
    const ofOwner = this.#receiving.filter((each) => each === owner).length;
    if (ofOwner >= mostAtOnce.owner || this.#receiving.length >= mostAtOnce.all) throw tooMany();
    this.#receiving.push(owner);
    try {
      await this.#ready();
      return await this.#receive(place, sent, commit, signal);
    } finally {
      this.#receiving.splice(this.#receiving.indexOf(owner), 1);
    }
  }

  async #receive(
    place: UploadPlace,
    sent: AsyncIterable<Buffer>,
    commit: NewCommit,
    signal: AbortSignal,
  ): Promise<Commit> {
    const before = this.listOf(place.owner).reduce((sum, { bytes }) => sum + bytes, 0);
    const folder = this.#at(place);
    const draft = folder.draft();
    const packs = join(draft, 'objects', 'pack');
    const onGrowth = () => this.#requireRoom(before + bytesIn(packs));
    try {
      onGrowth();
      const entries = checkedEntries(readTar(unpack(sent, this.limits)), this.limits.maxFiles);
      const sha = await writeCommit(draft, entries, commit, { signal, onGrowth });
      onGrowth();
      pin(draft, sha);
      return await requireCommit(await folder.adopt(draft), sha, signal);
    } catch (error) {
      await rm(folder.path, { recursive: true, force: true });
      throw error;
    }
  }

  /** Fails where it is no longer kept, or lies with another instance. */
  open(place: UploadPlace): Mirror {
    this.#kept(place);
    const { maxFiles: maxEntries, maxUnpackedBytes: maxContentBytes } = this.limits;
    return new Mirror(this.#at(place), { maxEntries, maxContentBytes, readMs });
  }

  readCommit(place: UploadPlace, sha: string, signal: AbortSignal): Promise<Commit> {
    return requireCommit(this.#kept(place), sha, signal);
  }

  /** All, also what was broken off by a kill. */
  list(): StoredUpload[] {
    return namesIn(this.#folder).flatMap((owner) => this.listOf(owner));
  }

  /** The oldest first: ids are in the order of their making. */
  listOf(owner: string): StoredUpload[] {
    const path = join(this.#folder, owner);
    return namesIn(path)
      .sort()
      .flatMap((id) => {
        const found = statSync(join(path, id), { throwIfNoEntry: false });
        return found ? [{ owner, id, bytes: bytesOf(join(path, id)), changedAt: found.mtime }] : [];
      });
  }

  /** One that is being read stays, until it is asked for again. */
  async remove(place: UploadPlace): Promise<void> {
    const { path } = this.#at(place);
    if (!this.#leases.hasUnder(path)) await rm(path, { recursive: true, force: true });
  }

  #kept(place: UploadPlace): string {
    const folder = this.#at(place);
    const dir = folder.current();
    if (dir === undefined || folder.isDamaged(dir)) throw uploadGone();
    return dir;
  }

  #at({ owner, id }: UploadPlace): MirrorFolder {
    for (const name of [owner, id])
      if (!/^[0-9a-f-]{36}$/.test(name)) throw new TypeError('an upload is named by other than ids');
    return new MirrorFolder(join(this.#folder, owner), id, this.#leases);
  }

  #requireRoom(used: number): void {
    const { maxOwnerBytes, keepFreeBytes } = this.limits;
    if (used > maxOwnerBytes) throw uploadsFull(maxOwnerBytes);
    const { bavail, bsize } = statfsSync(this.#folder);
    if (bavail * bsize >= keepFreeBytes) return;
    throw new Fault('no_space', 'The disk of the service is nearly full, so no upload is taken.', {
      hint: 'Whoever runs this instance has to make room, or lower SLIPWAY_KEEP_FREE_MB.',
    });
  }
}

function uploadGone(): Fault {
  return new Fault('upload_gone', 'The files that were uploaded for this release are no longer here.', {
    hint: 'Upload them again. Where Slipway runs as several instances, all must share SLIPWAY_UPLOAD_DIR.',
  });
}

function uploadsFull(maxBytes: number): Fault {
  const megabytes = Math.round(maxBytes / 2 ** 20);
  return new Fault('uploads_full', `The uploads of the workspace take more than ${megabytes} MB together.`, {
    hint: 'Those that nothing runs of were removed already. Delete environments that are not needed; whoever runs this instance can raise SLIPWAY_LIMIT_UPLOADS_MB.',
  });
}

function tooMany(): Fault {
  return new Fault('rate_limited', 'Too many uploads are under way at once.', {
    hint: 'Wait until one of them has ended.',
    retryAfterSeconds: 10,
  });
}
