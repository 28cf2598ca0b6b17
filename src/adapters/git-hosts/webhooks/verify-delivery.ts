/** Whether a delivery comes from whoever knows the secret. Takes the raw bytes: what was parsed is not what was signed. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Clock, minute, systemClock } from '../../../clock.ts';
import type { Secret } from '../../../secret.ts';
import type { GitHostKind } from '../host.ts';

/** Headers as Node gives them. One that came twice is none: it would be up to luck which of them was checked. */
export type HeaderLines = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The first of these that is there. */
export function headerOf(headers: HeaderLines, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = headers[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
}

/** GitLab signs the time too; older than this is a copy of something that was sent before. */
const toleranceMs = 5 * minute;

export function verifyDelivery(
  kind: GitHostKind,
  headers: HeaderLines,
  rawBody: Buffer,
  secret: Secret,
  clock: Clock = systemClock,
): boolean {
  const key = secret.reveal();
  if (key === '') return false;
  switch (kind) {
    case 'github':
      return isHexOf(headerOf(headers, ['x-hub-signature-256']), 'sha256=', key, rawBody);
    case 'gitea': {
      const own = headerOf(headers, ['x-gitea-signature', 'x-forgejo-signature']);
      if (own !== undefined) return isHexOf(own, '', key, rawBody);
      return isHexOf(headerOf(headers, ['x-hub-signature-256']), 'sha256=', key, rawBody);
    }
    case 'bitbucket':
      return isHexOf(headerOf(headers, ['x-hub-signature']), 'sha256=', key, rawBody);
    case 'gitlab': {
      const token = headerOf(headers, ['x-gitlab-token']);
      return (token !== undefined && isSame(token, key)) || isSignedByGitlab(headers, rawBody, key, clock);
    }
  }
}

function isHexOf(shown: string | undefined, prefix: string, key: string, body: Buffer): boolean {
  if (shown === undefined) return false;
  return isSame(shown, `${prefix}${createHmac('sha256', key).update(body).digest('hex')}`);
}

/** The newer way of GitLab, which is that of Standard Webhooks: several signatures, each with its version before it. */
function isSignedByGitlab(headers: HeaderLines, body: Buffer, key: string, clock: Clock): boolean {
  const [id, time, shown] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    headerOf(headers, [name]),
  );
  if (id === undefined || time === undefined || shown === undefined || !/^\d{1,12}$/.test(time)) return false;
  if (Math.abs(clock.now().getTime() - Number(time) * 1000) > toleranceMs) return false;
  const keys = [Buffer.from(key)];
  if (key.startsWith('whsec_')) keys.push(Buffer.from(key.slice('whsec_'.length), 'base64'));
  const expected = keys
    .filter(({ length }) => length > 0)
    .map(
      (bytes) => `v1,${createHmac('sha256', bytes).update(`${id}.${time}.`).update(body).digest('base64')}`,
    );
  return shown.split(' ').some((each) => expected.some((one) => isSame(each, one)));
}

/** Takes as long for a wrong first character as for a wrong last one, and for any length. */
function isSame(one: string, other: string): boolean {
  const salt = randomBytes(32);
  const digest = (text: string) => createHmac('sha256', salt).update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
