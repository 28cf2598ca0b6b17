-- Workspaces that several people share: invitations, and the end of a workspace.

-- A workspace that is being removed takes no changes; one that was removed is kept for a day, so that whoever had it
-- removed sees how that went.
alter table workspaces add column removed_at timestamptz;
create index workspaces_removed on workspaces (removed_at) where removed_at is not null;

-- With each membership, so that a request that asks who somebody is finds it there.
alter table memberships add column closing boolean not null default false;

-- The token is made when the mail is sent, and only its hash is stored. One invitation an address: a new one replaces it.
create table invitations (
  workspace_id uuid not null references workspaces on delete cascade,
  id           uuid not null unique,
  email        text not null check (email = lower(email)),
  role         text not null check (role in ('owner', 'admin', 'member', 'viewer')),
  -- [{projectId, role}] for somebody who is to be limited to these; else null.
  projects     jsonb,
  token_hash   bytea unique,
  invited_by   uuid references accounts on delete set null,
  expires_at   timestamptz not null,
  created_at   timestamptz not null,
  primary key (workspace_id, id),
  unique (workspace_id, email)
);
create index invitations_by_expiry on invitations (expires_at);

-- Whoever registers with the token of an invitation joins when the address is confirmed.
alter table registrations add column invitation_id uuid;
