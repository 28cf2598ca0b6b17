/** Repositories as GitHub writes them. */
import type { Role } from '../access.ts';
import type { Registry } from '../registry.ts';
import type { Repository } from '../state.ts';
import { simpleOrganisation, simpleUser } from './accounts.ts';
import { nodeId, type Urls } from './urls.ts';

/** Addresses under the repository's own, by the field that names them. */
const places: Readonly<Record<string, string>> = {
  archive_url: '/{archive_format}{/ref}',
  assignees_url: '/assignees{/user}',
  blobs_url: '/git/blobs{/sha}',
  branches_url: '/branches{/branch}',
  collaborators_url: '/collaborators{/collaborator}',
  comments_url: '/comments{/number}',
  commits_url: '/commits{/sha}',
  compare_url: '/compare/{base}...{head}',
  contents_url: '/contents/{+path}',
  contributors_url: '/contributors',
  deployments_url: '/deployments',
  downloads_url: '/downloads',
  events_url: '/events',
  forks_url: '/forks',
  git_commits_url: '/git/commits{/sha}',
  git_refs_url: '/git/refs{/sha}',
  git_tags_url: '/git/tags{/sha}',
  hooks_url: '/hooks',
  issue_comment_url: '/issues/comments{/number}',
  issue_events_url: '/issues/events{/number}',
  issues_url: '/issues{/number}',
  keys_url: '/keys{/key_id}',
  labels_url: '/labels{/name}',
  languages_url: '/languages',
  merges_url: '/merges',
  milestones_url: '/milestones{/number}',
  notifications_url: '/notifications{?since,all,participating}',
  pulls_url: '/pulls{/number}',
  releases_url: '/releases{/id}',
  stargazers_url: '/stargazers',
  statuses_url: '/statuses/{sha}',
  subscribers_url: '/subscribers',
  subscription_url: '/subscription',
  tags_url: '/tags',
  teams_url: '/teams',
  trees_url: '/git/trees{/sha}',
};

/** Without a role, as in webhooks, nothing is said of permissions. */
export function repositoryView(repository: Repository, registry: Registry, urls: Urls, role?: Role) {
  const url = urls.apiOf(repository);
  const page = urls.page(repository);
  const owner = registry.knownAccount(repository.owner);
  const fullName = `${repository.owner}/${repository.name}`;
  return {
    id: repository.id,
    node_id: nodeId('Repository', repository.id),
    name: repository.name,
    full_name: fullName,
    private: repository.private,
    owner: simpleUser(owner, urls),
    html_url: page,
    description: null,
    fork: false,
    url,
    ...Object.fromEntries(Object.entries(places).map(([field, place]) => [field, `${url}${place}`])),
    created_at: repository.createdAt,
    updated_at: repository.updatedAt,
    pushed_at: repository.pushedAt,
    git_url: `git://${urls.hostname}/${fullName}.git`,
    ssh_url: `git@${urls.hostname}:${fullName}.git`,
    clone_url: urls.clone(repository),
    svn_url: page,
    homepage: null,
    size: repository.sizeKb,
    stargazers_count: 0,
    watchers_count: 0,
    language: repository.language,
    has_issues: true,
    has_projects: false,
    has_downloads: true,
    has_wiki: false,
    has_pages: false,
    has_discussions: false,
    forks_count: 0,
    mirror_url: null,
    archived: false,
    disabled: false,
    open_issues_count: 0,
    license: null,
    allow_forking: true,
    is_template: false,
    web_commit_signoff_required: false,
    topics: [],
    visibility: repository.private ? 'private' : 'public',
    forks: 0,
    open_issues: 0,
    watchers: 0,
    default_branch: repository.defaultBranch,
    ...(role === undefined ? {} : { permissions: permissionsOf(role) }),
  };
}

export function fullRepository(repository: Repository, registry: Registry, urls: Urls, role: Role) {
  const owner = registry.knownAccount(repository.owner);
  return {
    ...repositoryView(repository, registry, urls, role),
    ...(owner.kind === 'org' ? { organization: simpleUser(owner, urls) } : {}),
    temp_clone_token: null,
    network_count: 0,
    subscribers_count: 0,
  };
}

/** Webhooks name the organisation beside the repository. */
export function organisationPart(repository: Repository, registry: Registry, urls: Urls) {
  const owner = registry.knownAccount(repository.owner);
  return owner.kind === 'org' ? { organization: simpleOrganisation(owner, urls) } : {};
}

function permissionsOf(role: Role) {
  const all = role === 'admin';
  return { admin: all, maintain: all, push: all, triage: all, pull: role !== 'none' };
}
