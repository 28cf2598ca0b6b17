/**
 * What hosts tell us of a push. Owns how each of them signs and writes it; pure, and knows nothing of who listens. What
 * comes is foreign: fields that are new are let be, those that are used are checked, and nothing is believed before
 * `verifyDelivery` has said that it is signed.
 */
import { Fault } from '../../../fault.ts';
import type { GitHostKind } from '../host.ts';
import { bitbucketDelivery } from './bitbucket-delivery.ts';
import type { Delivery } from './delivery.ts';
import { giteaDelivery, githubDelivery } from './github-delivery.ts';
import { gitlabDelivery } from './gitlab-delivery.ts';
import { Payload } from './payload.ts';
import { type HeaderLines, headerOf } from './verify-delivery.ts';

export type { Delivery } from './delivery.ts';
export { verifyDelivery } from './verify-delivery.ts';

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
