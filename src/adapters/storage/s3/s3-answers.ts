/** What an S3 answers, out of its XML. It is a stranger's text: small, without entities of its own, shapes checked. */
import { XMLParser } from 'fast-xml-parser';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { Fault } from '../../../fault.ts';

/** How many uploads are asked for at once. */
export const listedUploads = 100;
/**
 * The largest answer that is not an object: so many uploads with long names are half of it. Reading XML holds up everyone
 * else: a megabyte of small elements takes a third of a second.
 */
export const answerBytes = 256 * 1024;

export interface S3Error {
  readonly status: number;
  /** Empty where the answer has none, as to HEAD, or is not from an S3 at all. */
  readonly code: string;
  readonly message: string;
  readonly region: string | undefined;
  readonly retryAfterSeconds: number | undefined;
}

export interface BrokenUpload {
  readonly key: string;
  readonly uploadId: string;
}

export interface UploadsPage {
  readonly uploads: readonly BrokenUpload[];
  readonly next: { readonly key: string; readonly uploadId: string } | undefined;
}

const parser = new XMLParser({ ignoreAttributes: true, parseTagValue: false, removeNSPrefix: true });

const ErrorAnswer = Type.Object({
  Error: Type.Object({
    Code: Type.String(),
    Message: Type.Optional(Type.String()),
    Region: Type.Optional(Type.String()),
  }),
});
const Initiated = Type.Object({
  InitiateMultipartUploadResult: Type.Object({ UploadId: Type.String({ minLength: 1 }) }),
});
const Upload = Type.Object({ Key: Type.String(), UploadId: Type.String() });
const Uploads = Type.Object({
  ListMultipartUploadsResult: Type.Union([
    Type.Object({
      IsTruncated: Type.Optional(Type.String()),
      NextKeyMarker: Type.Optional(Type.String()),
      NextUploadIdMarker: Type.Optional(Type.String()),
      Upload: Type.Optional(Type.Union([Upload, Type.Array(Upload)])),
    }),
    Type.String(),
  ]),
});

/** Undefined for an answer that is none; an error may come with status 200, after a long wait. */
export function errorIn(status: number, headers: Headers, text: string): S3Error | undefined {
  const told = parsed(text);
  const found = Value.Check(ErrorAnswer, told) ? told.Error : undefined;
  if (status < 300 && found === undefined) return undefined;
  const seconds = headers.get('retry-after')?.trim() ?? '';
  return {
    status,
    code: found?.Code ?? '',
    message: found?.Message ?? '',
    region: found?.Region ?? headers.get('x-amz-bucket-region') ?? undefined,
    retryAfterSeconds: /^\d{1,6}$/.test(seconds) ? Number(seconds) : undefined,
  };
}

export function uploadIdIn(text: string): string {
  const told = parsed(text);
  if (!Value.Check(Initiated, told)) throw notUnderstood('the beginning of an upload');
  return told.InitiateMultipartUploadResult.UploadId;
}

export function uploadsIn(text: string): UploadsPage {
  const told = parsed(text);
  if (!Value.Check(Uploads, told)) throw notUnderstood('the list of uploads');
  const list = told.ListMultipartUploadsResult;
  if (typeof list === 'string') return { uploads: [], next: undefined };
  const { Upload: found = [], NextKeyMarker: key, NextUploadIdMarker: uploadId } = list;
  const uploads = Array.isArray(found) ? found : [found];
  const goesOn = list.IsTruncated === 'true' && key !== undefined;
  return {
    uploads: uploads.map((each) => ({ key: each.Key, uploadId: each.UploadId })),
    next: goesOn ? { key, uploadId: uploadId ?? '' } : undefined,
  };
}

function parsed(text: string): unknown {
  // A document that declares types has entities to expand; no S3 sends one.
  if (text === '' || !text.trimStart().startsWith('<') || /<!(DOCTYPE|ENTITY)/i.test(text)) return undefined;
  try {
    return parser.parse(text);
  } catch {
    // A page of some proxy; its status is what counts.
    return undefined;
  }
}

function notUnderstood(what: string): Fault {
  return new Fault('storage_failed', `The storage answers ${what} with something that is not understood.`, {
    hint: 'Check that the endpoint is that of an S3.',
  });
}
