-- Git accounts, projects with their analysis, their environments, and the pushes that arrive for them.

create table git_providers (
  workspace_id     uuid not null references workspaces on delete cascade,
  id               uuid not null unique,
  kind             text not null check (kind in ('github', 'gitlab', 'gitea', 'bitbucket')),
  base_url         text not null,
  username         text,
  label            text not null,
  -- Whom the token belongs to, as the provider says.
  login            text not null,
  account_name     text,
  avatar_url       text,
  token_sealed     bytea not null,
  token_expires_at timestamptz,
  status           text not null check (status in ('connected', 'rejected', 'unreachable')),
  -- Why it is not connected, as a fault.
  problem          jsonb,
  checked_at       timestamptz not null,
  -- The next look at it, by whichever instance comes first.
  check_at         timestamptz not null,
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  primary key (workspace_id, id)
);
-- A new token of the same account takes the place of the old one, and everything that uses it goes on.
create unique index git_providers_by_account on git_providers (workspace_id, kind, base_url, lower(login));
create index git_providers_by_check on git_providers (check_at);

create table projects (
  workspace_id        uuid not null references workspaces on delete cascade,
  id                  uuid not null unique,
  name                text not null,
  -- Part of names that others see; never changed, never given twice.
  slug                text not null,
  -- The account it is read with; null for a public address or a deploy key, and after the account was disconnected.
  provider_id         uuid,
  repository_kind     text not null check (repository_kind in ('github', 'gitlab', 'gitea', 'bitbucket', 'url')),
  repository_id       text,
  full_name           text not null,
  clone_url           text not null,
  web_url             text,
  -- For an address that is read over SSH.
  deploy_key_sealed   bytea,
  deploy_public_key   text,
  -- Null: the default branch of the repository, whichever that is.
  branch              text,
  root_directory      text not null,
  status              text not null check (status in ('draft', 'analyzing', 'ready', 'active', 'failed')),
  analysis_status     text not null
                      check (analysis_status in ('queued', 'fetching', 'analyzing', 'succeeded', 'failed')),
  -- Of the analysis that is under way or was the last; its events have this id.
  analysis_id         uuid,
  analysis_operation  uuid,
  analysis_commit     jsonb,
  analysis_result     jsonb,
  analysis_fault      jsonb,
  created_at          timestamptz not null,
  updated_at          timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, provider_id) references git_providers (workspace_id, id)
    on delete set null (provider_id)
);
create unique index projects_by_name on projects (workspace_id, lower(name));
create unique index projects_by_slug on projects (slug);
create index projects_by_provider on projects (workspace_id, provider_id);

-- One analysis of a project at a time.
create unique index operations_one_analysis on operations (subject_id)
  where finished_at is null and kind = 'project_analysis';

create table environments (
  workspace_id  uuid not null references workspaces on delete cascade,
  id            uuid not null unique,
  project_id    uuid not null,
  name          text not null,
  slug          text not null,
  branch        text not null,
  server_id     uuid,
  auto_deploy   boolean not null default false,
  -- Paths whose change deploys; an empty list watches all.
  watch_paths   jsonb not null default '[]',
  settings      jsonb not null default '{}',
  services      jsonb not null default '[]',
  -- The newest commit of its branch that was decided on, so that a push that is told twice is one push.
  decided_sha   text,
  -- The next look at its branch, where pushes may not reach us.
  poll_at       timestamptz not null default now(),
  status        text not null check (status in ('idle', 'deploying', 'running', 'degraded', 'stopped')),
  created_at    timestamptz not null,
  updated_at    timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, project_id) references projects (workspace_id, id) on delete cascade,
  -- Without an action: a server is not taken away from under an environment.
  foreign key (workspace_id, server_id) references servers (workspace_id, id)
);
create unique index environments_by_name on environments (workspace_id, project_id, lower(name));
create unique index environments_by_slug on environments (slug);
create index environments_by_poll on environments (poll_at) where auto_deploy;
create index environments_by_server on environments (workspace_id, server_id);

create table variables (
  workspace_id   uuid not null,
  id             uuid not null unique,
  environment_id uuid not null,
  key            text not null,
  value_sealed   bytea not null,
  is_secret      boolean not null,
  target         text not null check (target in ('build', 'runtime', 'both')),
  updated_at     timestamptz not null,
  primary key (workspace_id, id),
  unique (workspace_id, environment_id, key),
  foreign key (workspace_id, environment_id) references environments (workspace_id, id) on delete cascade
);

-- Where pushes to a project's repository arrive. The id is part of the address, so it is random, not a sequence.
create table project_hooks (
  workspace_id  uuid not null,
  project_id    uuid not null,
  id            uuid not null unique,
  secret_sealed bytea not null,
  -- Its id at the provider; null where the user has to paste it in.
  external_id   text,
  -- Why it is not at the provider, as a fault.
  problem       jsonb,
  last_heard_at timestamptz,
  created_at    timestamptz not null,
  updated_at    timestamptz not null,
  primary key (workspace_id, project_id),
  foreign key (workspace_id, project_id) references projects (workspace_id, id) on delete cascade
);

create table webhook_deliveries (
  workspace_id uuid not null,
  project_id   uuid not null,
  id           uuid not null unique,
  -- Of the provider, or what stands for it where it gives none; null where the signature was wrong.
  delivery_id  text,
  via          text not null check (via in ('webhook', 'poll')),
  event        text not null,
  branch       text,
  commit_sha   text,
  outcome      text not null check (outcome in ('deployed', 'ignored', 'rejected')),
  -- Why, as a word for programs and as a sentence.
  reason       text not null,
  message      text not null,
  -- What became of it in each environment.
  environments jsonb not null default '[]',
  received_at  timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, project_id) references projects (workspace_id, id) on delete cascade
);
-- A delivery that the provider repeats is the same delivery.
create unique index webhook_deliveries_once on webhook_deliveries (project_id, delivery_id) where delivery_id is not null;
create index webhook_deliveries_by_project on webhook_deliveries (workspace_id, project_id, id desc);
create index webhook_deliveries_by_age on webhook_deliveries (received_at);
