/** Accounts as GitHub writes them. */
import type { Registry } from '../registry.ts';
import type { Account } from '../state.ts';
import { nodeId, type Urls } from './urls.ts';

export function simpleUser(account: Account, urls: Urls) {
  const url = `${urls.api}/users/${account.login}`;
  return {
    login: account.login,
    id: account.id,
    node_id: nodeId('User', account.id),
    avatar_url: `${urls.base}/avatars/u/${account.id}`,
    gravatar_id: '',
    url,
    html_url: `${urls.base}/${account.login}`,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type: account.kind === 'org' ? 'Organization' : 'User',
    user_view_type: 'public',
    site_admin: false,
  } as const;
}

export function publicUser(account: Account, registry: Registry, urls: Urls) {
  const owned = registry.store.state.repositories.filter(({ owner }) => owner === account.login);
  return {
    ...simpleUser(account, urls),
    name: account.name,
    company: null,
    blog: '',
    location: null,
    email: account.email,
    hireable: null,
    bio: null,
    twitter_username: null,
    public_repos: owned.filter((repository) => !repository.private).length,
    public_gists: 0,
    followers: 0,
    following: 0,
    created_at: account.createdAt,
    updated_at: account.createdAt,
  };
}

/** What only the account itself sees. */
export function privateUser(account: Account, registry: Registry, urls: Urls) {
  const owned = registry.store.state.repositories.filter(({ owner }) => owner === account.login);
  const hidden = owned.filter((repository) => repository.private).length;
  return {
    ...publicUser(account, registry, urls),
    user_view_type: 'private',
    private_gists: 0,
    total_private_repos: hidden,
    owned_private_repos: hidden,
    disk_usage: owned.reduce((sum, { sizeKb }) => sum + sizeKb, 0),
    collaborators: 0,
    two_factor_authentication: false,
    plan: { name: 'free', space: 976_562_499, collaborators: 0, private_repos: 10_000 },
  };
}

export function simpleOrganisation(account: Account, urls: Urls) {
  const url = `${urls.api}/orgs/${account.login}`;
  return {
    login: account.login,
    id: account.id,
    node_id: nodeId('Organization', account.id),
    url,
    repos_url: `${url}/repos`,
    events_url: `${url}/events`,
    hooks_url: `${url}/hooks`,
    issues_url: `${url}/issues`,
    members_url: `${url}/members{/member}`,
    public_members_url: `${url}/public_members{/member}`,
    avatar_url: `${urls.base}/avatars/u/${account.id}`,
    description: account.name,
  };
}
