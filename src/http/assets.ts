/** Files that are the same for everyone: sent compressed to those who can, and not at all to those who have them. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

export interface Asset {
  readonly type: string;
  readonly plain: Buffer;
  readonly compressed: Buffer;
  readonly etag: string;
}

export async function assetOf(type: string, content: string | Buffer): Promise<Asset> {
  const plain = Buffer.from(content);
  const digest = createHash('sha256').update(plain).digest('base64url').slice(0, 22);
  // Weak: the bytes differ by how they are encoded, what they say does not.
  return { type, plain, compressed: await promisify(gzip)(plain), etag: `W/"${digest}"` };
}

export function sendAsset(request: FastifyRequest, reply: FastifyReply, asset: Asset): FastifyReply {
  const { type, plain, compressed, etag } = asset;
  // Kept, and asked for again each time: the service may have become a newer one meanwhile.
  reply.headers({ 'cache-control': 'no-cache', etag, vary: 'accept-encoding' });
  const known = (request.headers['if-none-match'] ?? '').split(',').map((each) => each.trim());
  if (known.includes(etag) || known.includes('*')) return reply.code(304).send();
  reply.type(type);
  if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(plain);
  return reply.header('content-encoding', 'gzip').send(compressed);
}
