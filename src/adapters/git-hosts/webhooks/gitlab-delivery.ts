/** Deliveries of GitLab. It lists 20 commits at most, and does not say whether a push was forced. */
import { type About, commitOf, type Delivery, isZero, pushTo, quiet } from './delivery.ts';
import type { Payload } from './payload.ts';

const pushes = ['Push Hook', 'Tag Push Hook'];

export function gitlabDelivery(about: About, body: Payload): Delivery {
  if (!pushes.includes(about.event)) return quiet('other', about);
  const after = body.at('after').sha();
  const project = body.at('project');
  const commits = body.at('commits').list();
  const checkout = body.at('checkout_sha').textOrNull() ?? after;
  const head = commits.find((commit) => commit.at('id').sha() === checkout) ?? commits.at(-1);
  // Without `refs/` it would be a name that GitLab never sends, and nothing to guess about.
  return pushTo(body.at('ref').textOrNull() ?? '', about, {
    repository: { id: project.at('id').id(), fullName: project.at('path_with_namespace').text() },
    after,
    isDeleted: isZero(after),
    isForced: null,
    commits: commits.map(commitOf),
    isTruncated: (body.at('total_commits_count').countOrNull() ?? 0) > commits.length,
    headMessage: head?.at('message').textOrNull() ?? null,
  });
}
