/** What an S3 refuses, as faults that name the field to look at, with the store's own words as evidence. */
import { errorText, Fault } from '../../../fault.ts';
import type { S3Error } from './s3-answers.ts';
import type { S3Place } from './s3-place.ts';

const codes = (text: string) => new Set(text.trim().split(/\s+/));

const full = codes(`
  QuotaExceeded QuotaExceededException ServiceQuotaExceeded InsufficientStorage InsufficientCapacity
  EntityTooLarge StorageFull XMinioStorageFull XMinioBucketQuotaExceeded
  XMinioAdminBucketQuotaExceeded TooManyObjects StorageLimitExceeded UserQuotaExceeded`);

const refusals: Readonly<Record<string, readonly [sentence: string, hint: string]>> = {
  InvalidAccessKeyId: ['The storage does not know the access key.', 'Check `accessKeyId`.'],
  SignatureDoesNotMatch: [
    'The storage does not accept the signature: the secret key does not belong to the access key.',
    'Check `secretAccessKey`.',
  ],
  NoSuchBucket: ['The storage has no such bucket.', 'Check `bucket`, and `endpoint` where it is elsewhere.'],
  InvalidBucketName: ['The storage takes no bucket of this name.', 'Check `bucket`.'],
  RequestTimeTooSkewed: [
    'The storage finds the clock of this machine wrong.',
    'Set the clock of the machine that Slipway runs on.',
  ],
};
const noRights: readonly [string, string] = [
  'The storage does not allow this with the access key.',
  'Give `accessKeyId` the rights to put, get and delete objects, and to list and abort uploads, in `bucket` below `prefix`.',
];

const broken = new Set(['BadDigest', 'IncompleteBody', 'XAmzContentSHA256Mismatch', 'InvalidDigest']);
const busy = codes(`
  SlowDown SlowDownWrite SlowDownRead ServiceUnavailable InternalError RequestTimeout OperationAborted
  Throttling ThrottlingException TooManyRequests RequestLimitExceeded`);
const busyStatus = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Whether the same request may do better in a moment. What was damaged on its way counts too. */
export function isPassing({ status, code }: S3Error): boolean {
  if (isFull(status, code)) return false;
  return busy.has(code) || broken.has(code) || busyStatus.has(status);
}

export function faultOfError(error: S3Error, place: S3Place): Fault {
  const { status, code, region } = error;
  const evidence = wordsOf(error);
  if (isFull(status, code))
    return new Fault('storage_full', 'The storage takes no more: a quota or a limit of size is reached.', {
      hint: 'Make room there, raise the quota, or keep fewer backups.',
      evidence,
    });
  const isRedirect = (status >= 300 && status < 400) || code === 'PermanentRedirect';
  const isElsewhere = region !== undefined && region !== place.region;
  if (isRedirect || code === 'AuthorizationHeaderMalformed' || (status === 400 && isElsewhere))
    return new Fault(
      'storage_refused',
      isElsewhere
        ? `The bucket is in the region ${shown(region)}, not in ${place.region}.`
        : `The storage at ${place.host} sends requests for this bucket elsewhere.`,
      {
        hint: isElsewhere
          ? `Set \`region\` to ${shown(region)}, and \`endpoint\` to that of the region.`
          : 'Check `region` and `endpoint`.',
        evidence,
      },
    );
  const refusal = refusals[code] ?? (status === 401 || status === 403 ? noRights : undefined);
  if (refusal !== undefined) return new Fault('storage_refused', refusal[0], { hint: refusal[1], evidence });
  if (status === 404 && (code === 'NoSuchKey' || code === ''))
    return new Fault('backup_missing', 'There is no such backup in the storage.', {
      hint: 'It was removed by someone else. Use another one.',
      evidence,
    });
  if (isPassing(error) && !broken.has(code))
    return new Fault('storage_unreachable', `The storage at ${place.host} is out of order, or too busy.`, {
      hint: 'Try again later.',
      evidence,
    });
  return new Fault('storage_failed', `The storage at ${place.host} could not do what it was asked.`, {
    hint: 'Its own words say why.',
    evidence,
  });
}

/** Of a request that had no answer. What is none of the network's goes on as it is. */
export function faultOfNetwork(error: unknown): unknown {
  if (!(error instanceof Fault)) return error;
  const options = { evidence: error.evidence ?? error.message, cause: error };
  if (error.code === 'egress_refused')
    return new Fault('storage_refused', error.message, { ...options, hint: 'Check `endpoint`.' });
  if (error.code !== 'egress_failed') return error;
  return new Fault('storage_unreachable', `The storage cannot be reached: ${errorText(error)}`, {
    ...options,
    ...(error.hint !== undefined && { hint: error.hint }),
  });
}

function isFull(status: number, code: string): boolean {
  return status === 507 || status === 413 || full.has(code);
}

/** One line of the store's own. The rest of such an answer repeats what was signed, and is left out. */
function wordsOf({ status, code, message }: S3Error): string {
  const words = [code, message].filter(Boolean).join(': ');
  return shown(words === '' ? `status ${status}` : `status ${status}, ${words}`);
}

function shown(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
}
