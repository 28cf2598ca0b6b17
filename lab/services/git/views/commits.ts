/** Commits as the REST API writes them. */
import type { Registry } from '../registry.ts';
import { type Commit, inUtc, type Signature } from '../repository/commits.ts';
import type { Repository } from '../state.ts';
import { simpleUser } from './accounts.ts';
import { nodeId, type Urls } from './urls.ts';

export function commitView(commit: Commit, repository: Repository, registry: Registry, urls: Urls) {
  const api = urls.apiOf(repository);
  const page = urls.page(repository);
  return {
    sha: commit.sha,
    node_id: nodeId('Commit', `${repository.id}:${commit.sha}`),
    commit: {
      author: gitUser(commit.author),
      committer: gitUser(commit.committer),
      message: commit.message,
      tree: { sha: commit.tree, url: `${api}/git/trees/${commit.tree}` },
      url: `${api}/git/commits/${commit.sha}`,
      comment_count: 0,
      verification: {
        verified: false,
        reason: commit.signature === null ? 'unsigned' : 'unknown_key',
        signature: commit.signature,
        payload: null,
        verified_at: null,
      },
    },
    url: `${api}/commits/${commit.sha}`,
    html_url: `${page}/commit/${commit.sha}`,
    comments_url: `${api}/commits/${commit.sha}/comments`,
    author: accountOf(commit.author, registry, urls),
    committer: accountOf(commit.committer, registry, urls),
    parents: commit.parents.map((sha) => ({
      sha,
      url: `${api}/commits/${sha}`,
      html_url: `${page}/commit/${sha}`,
    })),
  };
}

function gitUser(signature: Signature) {
  return { name: signature.name, email: signature.email, date: inUtc(signature) };
}

function accountOf(signature: Signature, registry: Registry, urls: Urls) {
  const account = registry.accountByEmail(signature.email);
  return account ? simpleUser(account, urls) : null;
}
