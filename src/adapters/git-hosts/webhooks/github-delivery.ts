/** Deliveries of GitHub, and of Gitea and Forgejo, which write theirs after it. */
import { type About, commitOf, type Delivery, isZero, noCommit, pushTo, quiet } from './delivery.ts';
import type { Payload } from './payload.ts';

/** GitHub lists no more commits of a push, and no more paths of a commit. */
const mostCommits = 2_048;
const mostPaths = 3_000;

export function githubDelivery(about: About, body: Payload): Delivery {
  if (about.event !== 'push') return quiet(about.event === 'ping' ? 'ping' : 'other', about);
  const after = body.at('after').sha();
  const commits = body.at('commits').list().map(commitOf);
  const isCut = commits.some(
    ({ added, modified, removed }) =>
      [added, modified, removed].flatMap((paths) => paths ?? []).length >= mostPaths,
  );
  return pushTo(body.at('ref').text(), about, {
    repository: repositoryOf(body),
    before: body.at('before').sha(),
    after,
    isDeleted: body.at('deleted').flagOrNull() ?? isZero(after),
    isForced: body.at('forced').flagOrNull(),
    commits,
    isTruncated: isCut || commits.length >= mostCommits,
    headMessage: headOf(body),
    pusher: body.at('pusher').maybe?.at('name').textOrNull() ?? null,
  });
}

/** The newest commit stands first in its list, of which it sends a few. It does not say whether a push was forced. */
export function giteaDelivery(about: About, body: Payload): Delivery {
  if (about.event === 'delete') return giteaDeletion(about, body);
  if (about.event !== 'push') return quiet('other', about);
  const after = body.at('after').sha();
  const commits = body.at('commits').list().map(commitOf).reverse();
  return pushTo(body.at('ref').text(), about, {
    repository: repositoryOf(body),
    before: body.at('before').sha(),
    after,
    isDeleted: isZero(after),
    isForced: null,
    commits,
    isTruncated: (body.at('total_commits').countOrNull() ?? 0) > commits.length,
    headMessage: headOf(body),
    pusher: loginOf(body.at('pusher')),
  });
}

/** Of a branch that is gone Gitea tells in an event of its own, with its short name and without what it was. */
function giteaDeletion(about: About, body: Payload): Delivery {
  const kind = body.at('ref_type').text() === 'branch' ? 'heads' : 'tags';
  return pushTo(`refs/${kind}/${body.at('ref').text()}`, about, {
    repository: repositoryOf(body),
    before: noCommit,
    after: noCommit,
    isDeleted: true,
    isForced: null,
    commits: [],
    isTruncated: false,
    headMessage: null,
    pusher: loginOf(body.at('sender')),
  });
}

function repositoryOf(body: Payload) {
  const repository = body.at('repository');
  return { id: repository.at('id').id(), fullName: repository.at('full_name').text() };
}

const headOf = (body: Payload) => body.at('head_commit').maybe?.at('message').textOrNull() ?? null;

const loginOf = (user: Payload) =>
  user.maybe?.at('login').textOrNull() ?? user.maybe?.at('username').textOrNull() ?? null;
