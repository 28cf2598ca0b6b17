/**
 * A file out of a multipart body, as it arrives. Fields come before it; unknown ones are refused. The file counts as whole
 * only once the whole body has arrived: one that breaks off in between fails.
 */
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyFileStream } from '@fastify/busboy';
import { errorText, Fault } from '../../../fault.ts';
import { isId, type ServiceId } from '../../../ids.ts';

export interface UploadedFile {
  readonly serviceId: ServiceId | null;
  readonly content: AsyncIterable<Buffer>;
}

const limits = { fieldNameSize: 100, fieldSize: 1_000, fields: 10, files: 1, parts: 12, headerPairs: 20 };

/** Resolves when the file begins. The caller has to read it, or to end the request. */
export function readUpload(request: IncomingMessage): Promise<UploadedFile> {
  const contentType = request.headers['content-type'];
  if (contentType === undefined || !/^multipart\/form-data\b/i.test(contentType))
    return Promise.reject(noFile());
  const found = Promise.withResolvers<UploadedFile>();
  let busboy: ReturnType<typeof Busboy>;
  try {
    busboy = Busboy({ headers: { ...request.headers, 'content-type': contentType }, limits });
  } catch (error) {
    return Promise.reject(broken(error));
  }
  let serviceId: ServiceId | null = null;
  let file: BusboyFileStream | undefined;
  // At once: what follows in the same chunk of the body is emitted before the end of the stream is.
  const refuse = (fault: Fault) => {
    found.reject(fault);
    busboy.destroy(fault);
  };
  busboy.on('field', (name: string, value: string) => {
    if (name !== 'serviceId') return refuse(unknownField(name));
    if (file) return refuse(wrongField('serviceId', 'must come before the file'));
    if (!isId(value)) return refuse(wrongField('serviceId', 'must be a valid uuid'));
    serviceId = value as ServiceId;
  });
  busboy.on('file', (name: string, stream: BusboyFileStream) => {
    // The reader gets the error; until there is one, an error without a listener would end the process.
    stream.on('error', () => undefined);
    if (name !== 'file') return refuse(unknownField(name));
    file = stream;
    found.resolve({ serviceId, content: whole(stream, arrived) });
  });
  busboy.on('filesLimit', () => refuse(wrongField('file', 'must be given once')));
  const arrived = pipeline(request, busboy).then(
    () => found.reject(noFile()),
    (error: unknown) => {
      const fault = error instanceof Fault ? error : broken(error);
      file?.destroy(fault);
      found.reject(fault);
      throw fault;
    },
  );
  arrived.catch(() => undefined);
  return found.promise;
}

async function* whole(
  stream: BusboyFileStream,
  arrived: Promise<void>,
): AsyncGenerator<Buffer, void, undefined> {
  for await (const chunk of stream) yield chunk;
  await arrived;
}

function noFile(): Fault {
  return wrongField('file', 'is required: a body of multipart/form-data with a file in this field');
}

function unknownField(name: string): Fault {
  return wrongField(name.slice(0, 100), 'is not a known field');
}

function wrongField(path: string, message: string): Fault {
  return new Fault('invalid_input', 'The upload is not valid.', { errors: [{ path, message }] });
}

function broken(error: unknown): Fault {
  return new Fault('bad_request', `The upload broke off, or is malformed: ${errorText(error)}.`);
}
