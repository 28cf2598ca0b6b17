/** Writes images into the folder of a registry, the way the registry itself lays them out. */
import { createHash } from 'node:crypto';
import { createWriteStream, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { registryDir } from '../services/registry.ts';

export interface Blob {
  readonly digest: string;
  readonly size: number;
}

const base = join(registryDir, 'docker/registry/v2');
const hexOf = (digest: string) => digest.slice('sha256:'.length);

export async function writeBlobFrom(source: Readable, scratch: string): Promise<Blob> {
  const hash = createHash('sha256');
  let size = 0;
  mkdirSync(dirname(scratch), { recursive: true });
  await pipeline(
    source,
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        hash.update(chunk);
        size += chunk.length;
        yield chunk;
      }
    },
    createWriteStream(scratch),
  );
  const digest = `sha256:${hash.digest('hex')}`;
  const place = blobFile(digest);
  mkdirSync(dirname(place), { recursive: true });
  renameSync(scratch, place);
  return { digest, size };
}

export function hasBlob(digest: string): boolean {
  return existsSync(blobFile(digest));
}

export function writeJsonBlob(value: unknown): Blob {
  const bytes = Buffer.from(JSON.stringify(value));
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  writeWhole(blobFile(digest), bytes);
  return { digest, size: bytes.length };
}

/** Makes a manifest known under its tags. */
export function tagImage(
  name: string,
  manifest: Blob,
  blobs: readonly Blob[],
  tags: readonly string[],
): void {
  const repository = join(base, 'repositories/library', name);
  const link = (path: string, digest: string) => writeWhole(join(repository, path, 'link'), digest);
  for (const { digest } of blobs) link(`_layers/sha256/${hexOf(digest)}`, digest);
  link(`_manifests/revisions/sha256/${hexOf(manifest.digest)}`, manifest.digest);
  for (const tag of tags) {
    link(`_manifests/tags/${tag}/index/sha256/${hexOf(manifest.digest)}`, manifest.digest);
    link(`_manifests/tags/${tag}/current`, manifest.digest);
  }
}

/** What a tag stands for: the file changes when the image does. */
export function tagFile(image: string): string {
  const [name = '', tag = ''] = image.split(':');
  return join(base, 'repositories/library', name, `_manifests/tags/${tag}/current/link`);
}

function blobFile(digest: string): string {
  const hex = hexOf(digest);
  return join(base, 'blobs/sha256', hex.slice(0, 2), hex, 'data');
}

function writeWhole(file: string, content: string | Buffer): void {
  mkdirSync(dirname(file), { recursive: true });
  const half = `${file}.${process.pid}`;
  rmSync(half, { force: true });
  writeFileSync(half, content);
  renameSync(half, file);
}
