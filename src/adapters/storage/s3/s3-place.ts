/** Where the objects of one destination are: the endpoint, the bucket and the prefix, as addresses. */
import { Fault } from '../../../fault.ts';
import { encoded } from './sigv4.ts';

export interface S3Place {
  /** For sentences. */
  readonly host: string;
  readonly bucket: string;
  readonly region: string;
  /** The name in the bucket. */
  keyOf(name: string): string;
  /** Of an object, or of the bucket itself. */
  url(key: string | undefined, query?: Readonly<Record<string, string>>): URL;
}

export interface S3Names {
  /** Of the service, such as `https://s3.eu-central-1.amazonaws.com`, or of the bucket where its host names that. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** Everything of ours is below it; may be empty. */
  readonly prefix: string;
}

export function placeOf({ endpoint, region, bucket, prefix }: S3Names): S3Place {
  const base = URL.parse(endpoint);
  if (!base || !/^https?:$/.test(base.protocol) || base.search || base.hash || base.username || base.password)
    throw wrong('endpoint', 'is no address of an S3', 'an address such as https://s3.example.com');
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{1,62}$/.test(bucket))
    throw wrong('bucket', 'is no name of a bucket', 'the name alone, without the address');
  if (!/^[A-Za-z0-9-]{1,64}$/.test(region))
    throw wrong('region', 'is no name of a region', 'one such as eu-central-1');
  const segments = prefix.split('/').filter(Boolean);
  if (prefix.length > 400 || segments.some((each) => /^\.{1,2}$/.test(each)) || !prefix.isWellFormed())
    throw wrong('prefix', 'cannot be part of a name', 'one such as backups/slipway');

  // The bucket stands in the path unless the host begins with it.
  const isInHost = base.hostname.startsWith(`${bucket.toLowerCase()}.`);
  const root = `${base.pathname.replace(/\/+$/, '')}${isInHost ? '' : `/${encoded(bucket)}`}`;
  return {
    host: base.host,
    bucket,
    region,
    keyOf: (name) => [...segments, name].join('/'),
    url(key, query = {}) {
      const url = new URL(base);
      url.pathname = key === undefined ? root || '/' : `${root}/${key.split('/').map(encoded).join('/')}`;
      url.search = Object.entries(query)
        .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
        .join('&');
      return url;
    },
  };
}

function wrong(field: string, what: string, right: string): Fault {
  return new Fault('storage_refused', `The ${field} ${what}.`, { hint: `Set \`${field}\` to ${right}.` });
}
