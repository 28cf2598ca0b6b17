/** The lists that S3 gives of objects, uploads and parts, page by page. */
import type { S3Object, S3Upload } from './s3-objects.ts';
import { document, element, S3Refusal } from './s3-refusal.ts';

export interface Listing<T> {
  readonly all: readonly T[];
  readonly bucket: string;
  readonly query: URLSearchParams;
  /** At most so many at once, whatever is asked for. */
  readonly page: number;
}

export function listObjects({ all, bucket, query, page: most }: Listing<S3Object>): string {
  if (query.get('list-type') !== '2' || query.has('delimiter'))
    throw new S3Refusal(501, 'NotImplemented', 'Only ListObjectsV2 without a delimiter is implemented.');
  const prefix = query.get('prefix') ?? '';
  const token = query.get('continuation-token');
  const after =
    token === null ? (query.get('start-after') ?? '') : Buffer.from(token, 'base64url').toString();
  const found = all.filter(({ key }) => key.startsWith(prefix) && key > after);
  const page = found.slice(0, mostOf(query.get('max-keys'), most));
  const goesOn = page.length < found.length;
  const last = page.at(-1)?.key ?? '';
  const contents = page.map(({ key, bytes, etag, modified }) =>
    group('Contents', { Key: key, LastModified: modified.toISOString(), ETag: `"${etag}"`, Size: bytes }),
  );
  const about = elements({ Name: bucket, Prefix: prefix, KeyCount: page.length, IsTruncated: goesOn });
  const next = goesOn ? element('NextContinuationToken', Buffer.from(last).toString('base64url')) : '';
  return document('ListBucketResult', `${about}${next}${contents.join('')}`);
}

export function listUploads({ all, bucket, query, page: most }: Listing<S3Upload>): string {
  const prefix = query.get('prefix') ?? '';
  const key = query.get('key-marker') ?? '';
  const id = query.get('upload-id-marker') ?? '';
  const isAfter = (each: S3Upload) => each.key > key || (each.key === key && id !== '' && each.id > id);
  const found = all.filter((each) => each.key.startsWith(prefix) && isAfter(each));
  const page = found.slice(0, mostOf(query.get('max-uploads'), most));
  const last = page.at(-1);
  const goesOn = page.length < found.length && last !== undefined;
  const about = elements({ Bucket: bucket, Prefix: prefix, IsTruncated: goesOn });
  const next = goesOn ? elements({ NextKeyMarker: last.key, NextUploadIdMarker: last.id }) : '';
  const uploads = page.map((each) =>
    group('Upload', { Key: each.key, UploadId: each.id, Initiated: each.initiated.toISOString() }),
  );
  return document('ListMultipartUploadsResult', `${about}${next}${uploads.join('')}`);
}

export function listParts(upload: S3Upload, bucket: string): string {
  const parts = [...upload.parts].sort(([one], [other]) => one - other);
  const inside = parts.map(([number, { etag, bytes }]) =>
    group('Part', { PartNumber: number, ETag: `"${etag}"`, Size: bytes }),
  );
  const about = elements({ Bucket: bucket, Key: upload.key, UploadId: upload.id, IsTruncated: false });
  return document('ListPartsResult', `${about}${inside.join('')}`);
}

function mostOf(text: string | null, page: number): number {
  const most = text === null ? page : Number(text);
  if (Number.isInteger(most) && most >= 0) return Math.min(page, most);
  throw new S3Refusal(400, 'InvalidArgument', 'Provided max-keys not an integer or within integer range');
}

function elements(values: Readonly<Record<string, string | number | boolean>>): string {
  return Object.entries(values)
    .map(([name, value]) => element(name, value))
    .join('');
}

function group(name: string, values: Readonly<Record<string, string | number>>): string {
  return `<${name}>${elements(values)}</${name}>`;
}
