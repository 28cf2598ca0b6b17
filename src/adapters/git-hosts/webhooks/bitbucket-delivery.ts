/** Deliveries of Bitbucket: all refs of a push in one, five commits of each at most, the newest first, without paths. */
import { type About, type Delivery, noCommit, type PushedCommit, pushTo, quiet } from './delivery.ts';
import type { Payload } from './payload.ts';

export function bitbucketDelivery(about: About, body: Payload): Delivery[] {
  if (about.event !== 'repo:push') return [quiet('other', about)];
  const repository = body.at('repository');
  const actor = body.at('actor').maybe;
  const shared = {
    repository: { id: repository.at('uuid').text(), fullName: repository.at('full_name').text() },
    pusher: actor?.at('nickname').textOrNull() ?? actor?.at('display_name').textOrNull() ?? null,
  };
  const changes = body.at('push').at('changes');
  return changes.items().map((change, index): Delivery => {
    // Each ref is decided on by itself, and the delivery as a whole comes again under the same number.
    const isFurther = about.deliveryId !== null && index > 0;
    const each = { ...about, deliveryId: isFurther ? `${about.deliveryId}#${index}` : about.deliveryId };
    const [now, before] = [change.at('new').maybe, change.at('old').maybe];
    const side = now ?? before ?? change.at('new');
    const kind = side.at('type').text();
    if (kind !== 'branch' && kind !== 'tag') return quiet('other', each);
    return pushTo(`refs/${kind === 'branch' ? 'heads' : 'tags'}/${side.at('name').text()}`, each, {
      ...shared,
      before: before?.at('target').at('hash').sha() ?? noCommit,
      after: now?.at('target').at('hash').sha() ?? noCommit,
      isDeleted: now === undefined,
      isForced: change.at('forced').flagOrNull(),
      commits: change.at('commits').list().map(commitOf).reverse(),
      isTruncated: change.at('truncated').flagOrNull() ?? false,
      headMessage: now?.at('target').at('message').textOrNull() ?? null,
    });
  });
}

/** The author is one text, `Name <address>`. */
function commitOf(commit: Payload): PushedCommit {
  const raw = commit.at('author').maybe?.at('raw').textOrNull() ?? '';
  const [, name, email] = /^(.*?)\s*<([^<>]*)>\s*$/s.exec(raw) ?? [];
  return {
    sha: commit.at('hash').sha(),
    message: commit.at('message').textOrNull() ?? '',
    authorName: (name ?? raw) || null,
    authorEmail: email || null,
    added: null,
    modified: null,
    removed: null,
  };
}
