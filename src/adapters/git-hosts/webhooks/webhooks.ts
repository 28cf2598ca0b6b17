/**
 * What hosts tell us of a push. Owns how each of them signs and writes it; pure, and knows nothing of who listens. What
 * comes is foreign: fields that are new are let be, those that are used are checked, and nothing is believed before
 * `verifyDelivery` has said that it is signed.
 */
import { Fault } from '../../../fault.ts';
import type { GitHostKind } from '../git-hosts.ts';
import { bitbucketDelivery } from './bitbucket-delivery.ts';
import { giteaDelivery, githubDelivery } from './github-delivery.ts';
import { gitlabDelivery } from './gitlab-delivery.ts';
import { type HeaderLines, headerOf } from './header-lines.ts';
import { Payload } from './payload.ts';

export type { HeaderLines } from './header-lines.ts';
export { verifyDelivery } from './verify-delivery.ts';

export interface PushedCommit {
  readonly sha: string;
  readonly message: string;
  readonly authorName: string | null;
  readonly authorEmail: string | null;
  /** Paths; `null` where the host does not tell. */
  readonly added: readonly string[] | null;
  readonly modified: readonly string[] | null;
  readonly removed: readonly string[] | null;
}

export interface PushDelivery {
  readonly type: 'push';
  /** The same when the host sends it again; no two deliveries of one answer share it. */
  readonly deliveryId: string | null;
  readonly repository: { readonly id: string; readonly fullName: string };
  readonly ref: { readonly type: 'branch' | 'tag'; readonly name: string };
  /** All zeros where the ref is new. */
  readonly before: string;
  /** All zeros where it is gone. */
  readonly after: string;
  readonly isDeleted: boolean;
  /** `null` where the host does not tell; then what `before` had may be gone. */
  readonly isForced: boolean | null;
  /** Oldest first. */
  readonly commits: readonly PushedCommit[];
  /** There are more commits, or more paths, than are listed. */
  readonly isTruncated: boolean;
  readonly headMessage: string | null;
  readonly pusher: string | null;
}

export interface QuietDelivery {
  readonly type: 'ping' | 'other';
  readonly deliveryId: string | null;
  readonly event: string;
}

export type Delivery = PushDelivery | QuietDelivery;

const idHeaders: Record<GitHostKind, readonly string[]> = {
  github: ['x-github-delivery'],
  gitlab: ['idempotency-key', 'webhook-id', 'x-gitlab-event-uuid'],
  gitea: ['x-gitea-delivery', 'x-forgejo-delivery', 'x-github-delivery'],
  bitbucket: ['x-request-uuid'],
};

const eventHeaders: Record<GitHostKind, readonly string[]> = {
  github: ['x-github-event'],
  gitlab: ['x-gitlab-event'],
  gitea: ['x-gitea-event', 'x-forgejo-event', 'x-github-event'],
  bitbucket: ['x-event-key'],
};

/** One for each ref: a push to Bitbucket tells of all its refs at once. `body` is the parsed JSON. */
export function readDelivery(kind: GitHostKind, headers: HeaderLines, body: unknown): readonly Delivery[] {
  const deliveryId = headerOf(headers, idHeaders[kind]) ?? null;
  const event = headerOf(headers, eventHeaders[kind]);
  if (event === undefined)
    throw new Fault('invalid_input', 'The delivery does not say what it is about.', {
      errors: [{ path: eventHeaders[kind][0] ?? '', message: 'is missing' }],
    });
  const about = { deliveryId, event };
  const payload = new Payload(body);
  switch (kind) {
    case 'github':
      return [githubDelivery(about, payload)];
    case 'gitea':
      return [giteaDelivery(about, payload)];
    case 'gitlab':
      return [gitlabDelivery(about, payload)];
    case 'bitbucket':
      return bitbucketDelivery(about, payload);
  }
}
