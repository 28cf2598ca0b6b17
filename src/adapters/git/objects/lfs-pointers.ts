/** Pointers of Git LFS: small files that stand for large ones. Read as data; the program git-lfs plays no part. */
import { contentOf, readObjects } from './object-reader.ts';
import type { TreeEntry } from './tree-listing.ts';

export interface LfsPointer {
  /** sha256 of the content, in hex. */
  readonly oid: string;
  readonly size: number;
}

const largestPointer = 1_024;
const largestAttributes = 256 * 1024;
const mostAttributes = 1_000;

function parsePointer(content: Buffer): LfsPointer | undefined {
  const text = content.toString('latin1');
  if (!/^version https:\/\/(git-lfs\.github\.com\/spec|hawser\.github\.com\/spec)\/v1\n/.test(text))
    return undefined;
  const oid = /^oid sha256:([0-9a-f]{64})$/m.exec(text)?.[1];
  const size = /^size (\d{1,15})$/m.exec(text)?.[1];
  return oid === undefined || size === undefined ? undefined : { oid, size: Number(size) };
}

/**
 * By the blob that holds each. Only where some `.gitattributes` speaks of the filter: elsewhere a file that looks like a
 * pointer is just that file.
 */
export async function findPointers(
  dir: string,
  entries: readonly TreeEntry[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, LfsPointer>> {
  const found = new Map<string, LfsPointer>();
  const files = entries.filter(({ type }) => type === 'file');
  const isAttributes = ({ path, size }: TreeEntry) =>
    (path === '.gitattributes' || path.endsWith('/.gitattributes')) && size <= largestAttributes;
  const attributes = files.filter(isAttributes).slice(0, mostAttributes);
  if (!(await someUse(dir, attributes, signal))) return found;
  const small = files.filter(({ size }) => size > 0 && size <= largestPointer).map(({ oid }) => oid);
  for await (const object of readObjects(dir, new Set(small), signal)) {
    const pointer = object && parsePointer(await contentOf(object, largestPointer));
    if (pointer) found.set(object.oid, pointer);
  }
  return found;
}

async function someUse(dir: string, attributes: readonly TreeEntry[], signal: AbortSignal): Promise<boolean> {
  const oids = attributes.map(({ oid }) => oid);
  for await (const object of readObjects(dir, new Set(oids), signal)) {
    if (object && /\bfilter=lfs\b/.test((await contentOf(object, largestAttributes)).toString('latin1')))
      return true;
  }
  return false;
}
