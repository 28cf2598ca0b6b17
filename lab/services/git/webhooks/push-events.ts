/** What a push says of each ref it changed, in GitHub's words. */
import type { Registry } from '../registry.ts';
import {
  type Commit,
  commitsSince,
  inItsZone,
  isAncestor,
  readCommits,
  type Signature,
  touchedFiles,
} from '../repository/commits.ts';
import type { BareRepository } from '../repository/git.ts';
import { describeObjects } from '../repository/objects.ts';
import { noCommit } from '../repository/refs.ts';
import type { Account, Repository } from '../state.ts';
import { simpleUser } from '../views/accounts.ts';
import { organisationPart, repositoryView } from '../views/repositories.ts';
import { encodePath, type Urls } from '../views/urls.ts';

export interface RefUpdate {
  readonly ref: string;
  /** All zeros for a ref that was not there. */
  readonly before: string;
  readonly after: string;
}

export interface PushContext {
  readonly repository: Repository;
  readonly bare: BareRepository;
  readonly pusher: Account;
  readonly registry: Registry;
  readonly urls: Urls;
}

/** GitHub's own limit. */
const mostCommits = 2048;

/** `refs` are those from before this update: they tell what is new, and where a new branch was begun. */
export async function pushPayload(
  context: PushContext,
  { ref, before, after }: RefUpdate,
  refs: ReadonlyMap<string, string>,
): Promise<Record<string, unknown>> {
  const { repository, bare, registry, urls, pusher } = context;
  const created = before === noCommit;
  const deleted = after === noCommit;
  const [tip] = deleted ? [] : await describeObjects(bare, [`${after}^{commit}`]);
  const fresh = tip ? await commitsSince(bare, tip.sha, refs.values(), mostCommits) : [];
  const shas = tip && !created ? await commitsSince(bare, tip.sha, [before], mostCommits) : fresh;
  const views = await pushedCommits(context, tip ? [...new Set([...shas, tip.sha])] : [], new Set(fresh));
  const page = urls.page(repository);
  const name = ref.replace(/^refs\/(heads|tags)\//, '');
  const owner = registry.knownAccount(repository.owner);
  const view = repositoryView(repository, registry, urls);
  return {
    ref,
    before,
    after,
    repository: {
      ...view,
      owner: { ...view.owner, name: owner.login, email: owner.email },
      created_at: Date.parse(repository.createdAt) / 1000,
      pushed_at: Date.parse(repository.pushedAt) / 1000,
      stargazers: 0,
      master_branch: repository.defaultBranch,
      ...(owner.kind === 'org' ? { organization: owner.login } : {}),
    },
    pusher: { name: pusher.login, email: pusher.email },
    ...organisationPart(repository, registry, urls),
    sender: simpleUser(pusher, urls),
    created,
    deleted,
    forced: !created && tip !== undefined && !(await isAncestor(bare, before, tip.sha)),
    base_ref: created && tip ? baseOf(refs, ref, tip.sha) : null,
    compare: created
      ? `${page}/compare/${encodePath(name)}`
      : `${page}/compare/${before.slice(0, 12)}...${after.slice(0, 12)}`,
    commits: shas.map((sha) => views.get(sha)),
    head_commit: (tip && views.get(tip.sha)) ?? null,
  };
}

/** For `create` and `delete`. */
export function refPayload(context: PushContext, { ref, before }: RefUpdate): Record<string, unknown> {
  const { repository, registry, urls, pusher } = context;
  const isNew = before === noCommit;
  return {
    ref: ref.replace(/^refs\/(heads|tags)\//, ''),
    ref_type: ref.startsWith('refs/tags/') ? 'tag' : 'branch',
    ...(isNew ? { master_branch: repository.defaultBranch, description: null } : {}),
    pusher_type: 'user',
    repository: repositoryView(repository, registry, urls),
    ...organisationPart(repository, registry, urls),
    sender: simpleUser(pusher, urls),
  };
}

function baseOf(refs: ReadonlyMap<string, string>, ref: string, tip: string): string | null {
  const isBase = ([name, sha]: readonly [string, string]) =>
    name.startsWith('refs/heads/') && name !== ref && sha === tip;
  return [...refs].find(isBase)?.[0] ?? null;
}

async function pushedCommits(
  { bare, repository, registry, urls }: PushContext,
  shas: readonly string[],
  fresh: ReadonlySet<string>,
): Promise<Map<string, Record<string, unknown>>> {
  const touched = await touchedFiles(bare, shas);
  const view = (commit: Commit) => ({
    id: commit.sha,
    tree_id: commit.tree,
    distinct: fresh.has(commit.sha),
    message: commit.message,
    timestamp: inItsZone(commit.committer),
    url: `${urls.page(repository)}/commit/${commit.sha}`,
    author: person(commit.author, registry),
    committer: person(commit.committer, registry),
    ...touched.get(commit.sha),
  });
  const commits = await readCommits(bare, shas);
  return new Map(commits.map((commit) => [commit.sha, view(commit)]));
}

function person(signature: Signature, registry: Registry) {
  const account = registry.accountByEmail(signature.email);
  return {
    name: signature.name,
    email: signature.email,
    date: inItsZone(signature),
    ...(account ? { username: account.login } : {}),
  };
}
