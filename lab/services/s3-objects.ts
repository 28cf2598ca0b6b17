/** The one bucket of the lab's S3: bytes in files of the lab's folder, names in memory; gone with the lab. */
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream, mkdirSync, rmSync, statSync } from 'node:fs';
import { open, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { InputError } from './control/input.ts';
import { S3Refusal } from './s3-refusal.ts';

/** Bytes that came and lie in a file, not yet under any name. */
export interface Incoming {
  readonly file: string;
  readonly bytes: number;
  readonly etag: string;
}

export interface S3Object extends Incoming {
  readonly key: string;
  readonly modified: Date;
}

export interface S3Upload {
  readonly id: string;
  readonly key: string;
  readonly initiated: Date;
  readonly parts: Map<number, Incoming>;
}

const leastPartBytes = 5 * 1024 * 1024;

export class S3Objects {
  readonly #dir: string;
  readonly #objects = new Map<string, S3Object>();
  readonly #uploads = new Map<string, S3Upload>();
  #count = 0;

  constructor(dir: string) {
    this.#dir = dir;
    rmSync(dir, { recursive: true, force: true });
    mkdirSync(dir, { recursive: true, mode: 0o700 });
  }

  newFile(): string {
    this.#count += 1;
    return join(this.#dir, String(this.#count));
  }

  list(): S3Object[] {
    return [...this.#objects.values()].sort((one, other) => (one.key < other.key ? -1 : 1));
  }

  uploads(): S3Upload[] {
    const order = ({ key, id }: S3Upload) => `${key}\0${id}`;
    return [...this.#uploads.values()].sort((one, other) => (order(one) < order(other) ? -1 : 1));
  }

  usedBytes(): number {
    const parts = this.uploads().flatMap((each) => [...each.parts.values()]);
    return [...this.list(), ...parts].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** As long as its file is now: that may be shorter than what was put. */
  get(key: string): S3Object {
    const found = this.#objects.get(key);
    if (!found)
      throw new S3Refusal(404, 'NoSuchKey', 'The specified key does not exist.', { more: { Key: key } });
    return { ...found, bytes: statSync(found.file).size };
  }

  async put(key: string, incoming: Incoming): Promise<S3Object> {
    const before = this.#objects.get(key);
    const object = { ...incoming, key, modified: new Date() };
    this.#objects.set(key, object);
    if (before) await rm(before.file, { force: true });
    return object;
  }

  async remove(key: string): Promise<void> {
    const found = this.#objects.get(key);
    this.#objects.delete(key);
    if (found) await rm(found.file, { force: true });
  }

  begin(key: string): S3Upload {
    const id = randomBytes(16).toString('hex');
    const upload = { id, key, initiated: new Date(), parts: new Map() };
    this.#uploads.set(id, upload);
    return upload;
  }

  upload(key: string, id: string): S3Upload {
    const found = this.#uploads.get(id);
    if (found?.key === key) return found;
    throw new S3Refusal(
      404,
      'NoSuchUpload',
      'The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.',
      { more: { UploadId: id } },
    );
  }

  async putPart(upload: S3Upload, number: number, incoming: Incoming): Promise<void> {
    const before = upload.parts.get(number);
    upload.parts.set(number, incoming);
    if (before) await rm(before.file, { force: true });
  }

  async abort(upload: S3Upload): Promise<void> {
    this.#uploads.delete(upload.id);
    for (const { file } of upload.parts.values()) await rm(file, { force: true });
  }

  async complete(
    upload: S3Upload,
    wanted: readonly { readonly number: number; readonly etag: string }[],
    tag: (md5s: string) => string,
  ): Promise<S3Object> {
    const parts = wanted.map(({ number, etag }, index) => {
      const part = upload.parts.get(number);
      if (!part || part.etag !== etag)
        throw new S3Refusal(400, 'InvalidPart', 'One or more of the specified parts could not be found.');
      if (index > 0 && number <= (wanted[index - 1]?.number ?? 0))
        throw new S3Refusal(400, 'InvalidPartOrder', 'The list of parts was not in ascending order.');
      if (part.bytes < leastPartBytes && index < wanted.length - 1)
        throw new S3Refusal(400, 'EntityTooSmall', 'Your proposed upload is smaller than the minimum.');
      return part;
    });
    const file = this.newFile();
    const md5s = createHash('md5');
    for (const part of parts) {
      md5s.update(part.etag, 'hex');
      await pipeline(createReadStream(part.file), createWriteStream(file, { flags: 'a', mode: 0o600 }));
    }
    const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
    const etag = tag(`${md5s.digest('hex')}-${parts.length}`);
    const object = await this.put(upload.key, { file, bytes, etag });
    await this.abort(upload);
    return object;
  }

  /** Changes one byte, and neither the length nor the tag: what a bad disk does. */
  async damage(key: string, at?: number): Promise<number> {
    const { file, bytes } = this.#known(key);
    const position = at ?? Math.floor(bytes / 2);
    if (position >= bytes) throw new InputError(`${key} has ${bytes} bytes only.`);
    const handle = await open(file, 'r+');
    try {
      const byte = Buffer.alloc(1);
      await handle.read(byte, 0, 1, position);
      byte.writeUInt8(byte.readUInt8(0) ^ 0x01);
      await handle.write(byte, 0, 1, position);
    } finally {
      await handle.close();
    }
    return position;
  }

  /** Something else than came, under a tag of its own and of the same form: what a store with a mistake keeps. */
  async keepOther(key: string): Promise<void> {
    await this.damage(key);
    const object = this.#known(key);
    const etag = object.etag.replace(/^[0-9a-f]{32}/, randomBytes(16).toString('hex'));
    this.#objects.set(key, { ...object, etag });
  }

  async cut(key: string, bytes: number): Promise<void> {
    await truncate(this.#known(key).file, bytes);
  }

  #known(key: string): S3Object {
    if (!this.#objects.has(key)) throw new InputError(`There is no object ${key}.`, 404);
    return this.get(key);
  }
}
