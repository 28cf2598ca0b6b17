/** Deliveries of Bitbucket: all refs of a push in one, five commits of each at most, without paths. */
import { type About, type Delivery, noCommit, pushTo, quiet } from './delivery.ts';
import type { Payload } from './payload.ts';

const untold = { added: null, modified: null, removed: null };

export function bitbucketDelivery(about: About, body: Payload): Delivery[] {
  if (about.event !== 'repo:push') return [quiet('other', about)];
  const found = body.at('repository');
  const repository = { id: found.at('uuid').text(), fullName: found.at('full_name').text() };
  const changes = body.at('push').at('changes');
  return changes.items().map((change, index): Delivery => {
    // Each ref is decided on by itself, and the delivery as a whole comes again under the same number.
    const isFurther = about.deliveryId !== null && index > 0;
    const each = { ...about, deliveryId: isFurther ? `${about.deliveryId}#${index}` : about.deliveryId };
    const now = change.at('new').maybe;
    const side = now ?? change.at('old').maybe ?? change.at('new');
    const kind = side.at('type').text();
    if (kind !== 'branch' && kind !== 'tag') return quiet('other', each);
    return pushTo(`refs/${kind === 'branch' ? 'heads' : 'tags'}/${side.at('name').text()}`, each, {
      repository,
      after: now?.at('target').at('hash').sha() ?? noCommit,
      isDeleted: now === undefined,
      isForced: change.at('forced').flagOrNull(),
      commits: change
        .at('commits')
        .list()
        .map(() => untold),
      isTruncated: change.at('truncated').flagOrNull() ?? false,
      headMessage: now?.at('target').at('message').textOrNull() ?? null,
    });
  });
}
