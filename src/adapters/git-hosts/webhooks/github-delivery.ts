/** Deliveries of GitHub, and of Gitea and Forgejo, which write theirs after it. */
import { type About, commitOf, type Delivery, isZero, noCommit, pushTo, quiet } from './delivery.ts';
import type { Payload } from './payload.ts';

/** GitHub lists no more commits of a push, and no more paths of a commit. */
const mostCommits = 2_048;
const mostPaths = 3_000;

export function githubDelivery(about: About, body: Payload): Delivery {
  if (about.event !== 'push') return quiet(about.event === 'ping' ? 'ping' : 'other', about);
  const commits = body.at('commits').list().map(commitOf);
  const isCut = commits.some(
    ({ added, modified, removed }) =>
      [added, modified, removed].flatMap((paths) => paths ?? []).length >= mostPaths,
  );
  const pushed = pushedIn(body);
  return pushTo(body.at('ref').text(), about, {
    ...pushed,
    isDeleted: body.at('deleted').flagOrNull() ?? pushed.isDeleted,
    isForced: body.at('forced').flagOrNull(),
    commits,
    isTruncated: isCut || commits.length >= mostCommits,
  });
}

/** It sends a few of the commits, and does not say whether a push was forced. */
export function giteaDelivery(about: About, body: Payload): Delivery {
  if (about.event === 'delete') return giteaDeletion(about, body);
  if (about.event !== 'push') return quiet('other', about);
  const commits = body.at('commits').list().map(commitOf);
  return pushTo(body.at('ref').text(), about, {
    ...pushedIn(body),
    isForced: null,
    commits,
    isTruncated: (body.at('total_commits').countOrNull() ?? 0) > commits.length,
  });
}

/** Of a branch that is gone Gitea tells in an event of its own, with its short name and without what it was. */
function giteaDeletion(about: About, body: Payload): Delivery {
  const kind = body.at('ref_type').text() === 'branch' ? 'heads' : 'tags';
  return pushTo(`refs/${kind}/${body.at('ref').text()}`, about, {
    repository: repositoryOf(body),
    after: noCommit,
    isDeleted: true,
    isForced: null,
    commits: [],
    isTruncated: false,
    headMessage: null,
  });
}

function pushedIn(body: Payload) {
  const after = body.at('after').sha();
  return {
    repository: repositoryOf(body),
    after,
    isDeleted: isZero(after),
    headMessage: body.at('head_commit').maybe?.at('message').textOrNull() ?? null,
  };
}

function repositoryOf(body: Payload) {
  const repository = body.at('repository');
  return { id: repository.at('id').id(), fullName: repository.at('full_name').text() };
}
