/** Files that are the same for everyone: sent compressed to those who can, and not at all to those who have them. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

export interface Asset {
  readonly type: string;
  readonly plain: Buffer;
  /** The same, compressed; the first that the reader takes is sent. */
  readonly encoded: readonly { readonly encoding: 'br' | 'gzip'; readonly bytes: Buffer }[];
  readonly etag: string;
  /** Its name changes with its content, so nobody needs to ask for it twice. */
  readonly isImmutable: boolean;
}

export async function assetOf(type: string, content: string | Buffer): Promise<Asset> {
  const plain = Buffer.from(content);
  const encoded = [{ encoding: 'gzip', bytes: await promisify(gzip)(plain) }] as const;
  return { type, plain, encoded, etag: etagOf(plain), isImmutable: false };
}

/** Weak: the bytes differ by how they are encoded, what they say does not. */
export function etagOf(plain: Buffer): string {
  return `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`;
}

export function sendAsset(request: FastifyRequest, reply: FastifyReply, asset: Asset): FastifyReply {
  const { type, plain, encoded, etag, isImmutable } = asset;
  // What keeps its name is kept, and asked for again each time: the service may have become a newer one meanwhile.
  const caching = isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache';
  const vary = [reply.getHeader('vary') ?? [], 'accept-encoding'].flat().join(', ');
  reply.headers({ 'cache-control': caching, etag, vary });
  const known = (request.headers['if-none-match'] ?? '').split(',').map((each) => each.trim());
  if (known.includes(etag) || known.includes('*')) return reply.code(304).send();
  reply.type(type);
  const accepted = request.headers['accept-encoding'] ?? '';
  const chosen = encoded.find(({ encoding }) => new RegExp(`\\b${encoding}\\b`).test(accepted));
  return chosen ? reply.header('content-encoding', chosen.encoding).send(chosen.bytes) : reply.send(plain);
}
