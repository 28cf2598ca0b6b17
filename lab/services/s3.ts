/**
 * The lab's S3: one bucket with objects, ranges, lists and uploads in parts, answers as AWS gives them, and signatures
 * and checksums that are really checked. It fails on purpose where it is told to. Versions, ACLs, presigned addresses
 * and chunked signatures are not there, and are refused as not implemented.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { S3Faults } from './s3-faults.ts';
import { S3Objects } from './s3-objects.ts';
import { S3Refusal } from './s3-refusal.ts';
import { type S3Reply, S3Requests } from './s3-requests.ts';
import { checkSignature, type S3Keys } from './s3-signature.ts';

export const bucket = 'backups';
export const region = 'us-east-1';

export interface LabS3 {
  readonly endpoint: string;
  readonly objects: S3Objects;
  readonly faults: S3Faults;
  /** How many requests came, by method and what they were for: `PUT part`. */
  readonly counts: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

export interface S3Place {
  readonly address: string;
  /** 0 for any. */
  readonly port: number;
  readonly dir: string;
  readonly keys: Omit<S3Keys, 'region'>;
  /** How much of a list is given at once; a thousand, unless told. */
  readonly page?: number;
}

export async function startS3({ address, port, dir, keys, page = 1000 }: S3Place): Promise<LabS3> {
  const objects = new S3Objects(dir);
  const faults = new S3Faults();
  const counts = new Map<string, number>();
  const requests = new S3Requests({ objects, faults, bucket, counts, page });
  const server = createServer(async (request, response) => {
    try {
      const reply = await answer(request);
      if (reply === undefined) response.destroy();
      else await give(request, response, reply);
    } catch (error) {
      const own = error instanceof S3Refusal ? error : new S3Refusal(500, 'InternalError', String(error));
      if (response.headersSent) response.destroy();
      else await refuse(request, response, own);
    }
  });

  async function answer(request: IncomingMessage): Promise<S3Reply | undefined> {
    if (faults.take('refuse')) throw new S3Refusal(403, 'AccessDenied', 'Access Denied');
    const elsewhere = faults.take('redirect');
    if (elsewhere)
      throw new S3Refusal(
        301,
        'PermanentRedirect',
        'The bucket you are attempting to access must be addressed using the specified endpoint.',
        {
          headers: { 'x-amz-bucket-region': elsewhere.region },
          more: { Endpoint: `${bucket}.s3.${elsewhere.region}.amazonaws.com`, Bucket: bucket },
        },
      );
    const payload = checkSignature(request, { ...keys, region });
    return requests.answer(request, payload);
  }

  server.listen(port, address);
  await once(server, 'listening');
  const bound = server.address();
  if (typeof bound !== 'object' || bound === null) throw new Error('The S3 has no port, though it listens.');
  return {
    endpoint: `http://${address}:${bound.port}`,
    objects,
    faults,
    counts,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function give(request: IncomingMessage, response: ServerResponse, reply: S3Reply): Promise<void> {
  response.writeHead(reply.status, { server: 'LabS3', ...reply.headers });
  if (reply.body === undefined || request.method === 'HEAD' || typeof reply.body === 'string') {
    response.end(request.method === 'HEAD' ? undefined : reply.body);
    return;
  }
  const closed = new Promise<'closed'>((resolve) => response.once('close', () => resolve('closed')));
  let left = reply.breakAfterBytes ?? Number.POSITIVE_INFINITY;
  for await (const chunk of reply.body) {
    const part: Buffer = left < chunk.length ? chunk.subarray(0, left) : chunk;
    left -= part.length;
    // Each piece is out before the next is read: a break is then exactly where it was asked for.
    const isOut = new Promise<void>((resolve) => response.write(part, () => resolve()));
    if ((await Promise.race([isOut, closed])) === 'closed') return;
    if (left > 0) continue;
    response.destroy();
    return;
  }
  response.end();
}

async function refuse(request: IncomingMessage, response: ServerResponse, refusal: S3Refusal): Promise<void> {
  // Read to its end: a client that is cut off while it sends never sees why.
  request.resume();
  if (!request.readableEnded && !request.destroyed)
    await new Promise<void>((resolve) => {
      for (const event of ['end', 'error', 'close']) request.once(event, () => resolve());
    });
  const text = request.method === 'HEAD' ? '' : refusal.toXml();
  response.writeHead(refusal.status, { 'content-type': 'application/xml', ...refusal.headers });
  response.end(text);
}
