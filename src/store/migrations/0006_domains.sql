-- Domains, the names of environments among them, and their certificates.

create table domains (
  workspace_id  uuid not null references workspaces on delete cascade,
  id            uuid not null unique,
  -- A-labels, small letters, without a dot at the end.
  hostname      text not null,
  status        text not null check (status in ('pending', 'verified', 'failed')),
  -- What has to stand in the TXT record.
  token         text not null,
  verified_at   timestamptz,
  -- Since when the record is missing that proved it; null while it is there.
  missing_since timestamptz,
  last_check    jsonb,
  -- The next look at it, by whichever instance comes first.
  check_at      timestamptz not null,
  checks        integer not null default 0,
  created_at    timestamptz not null,
  updated_at    timestamptz not null,
  primary key (workspace_id, id)
);
create unique index domains_by_name on domains (workspace_id, hostname);
-- A name that was proven belongs to one workspace.
create unique index domains_verified on domains (hostname) where status = 'verified';
create index domains_by_check on domains (check_at);

-- Our accounts with authorities: one a workspace and directory.
create table acme_accounts (
  workspace_id  uuid not null references workspaces on delete cascade,
  id            uuid not null unique,
  directory_url text not null,
  account_url   text not null,
  thumbprint    text not null,
  key_sealed    bytea not null,
  created_at    timestamptz not null,
  primary key (workspace_id, id),
  unique (workspace_id, directory_url)
);

create table certificates (
  workspace_id uuid not null references workspaces on delete cascade,
  id           uuid not null unique,
  source       text not null check (source in ('acme', 'custom')),
  names        text[] not null,
  status       text not null check (status in ('pending', 'issued', 'failed', 'revoked')),
  -- The chain, leaf first; null before the first one.
  chain        text,
  key_sealed   bytea,
  issuer       text,
  not_before   timestamptz,
  not_after    timestamptz,
  -- Why the last try failed, as a fault; the certificate before it may still be good.
  fault        jsonb,
  failures     integer not null default 0,
  -- The next try or renewal; null where nobody but the user renews it.
  renew_at     timestamptz,
  -- Told once when it is near its end and was not renewed.
  warned_at    timestamptz,
  created_at   timestamptz not null,
  updated_at   timestamptz not null,
  primary key (workspace_id, id)
);
create index certificates_by_renewal on certificates (renew_at) where renew_at is not null;

-- Names that lead to an environment.
create table environment_domains (
  workspace_id   uuid not null,
  id             uuid not null unique,
  environment_id uuid not null,
  domain_id      uuid not null,
  hostname       text not null,
  ssl_mode       text not null check (ssl_mode in ('auto', 'custom', 'off')),
  certificate_id uuid,
  redirect_http  boolean not null,
  www            text not null check (www in ('none', 'redirect_to_apex', 'redirect_to_www')),
  hsts_seconds   integer,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, environment_id) references environments (workspace_id, id) on delete cascade,
  foreign key (workspace_id, domain_id) references domains (workspace_id, id),
  foreign key (workspace_id, certificate_id) references certificates (workspace_id, id)
);
-- One name leads to one place.
create unique index environment_domains_by_name on environment_domains (hostname);
create index environment_domains_by_environment on environment_domains (workspace_id, environment_id);
create index environment_domains_by_domain on environment_domains (workspace_id, domain_id);
