-- Accounts, their workspaces and sessions, and the keys that seal a workspace's secrets.

create table accounts (
  id                uuid primary key,
  email             text not null unique check (email = lower(email)),
  name              text,
  -- Null until a password is set: see registrations.contested.
  password_hash     text,
  email_verified_at timestamptz not null,
  created_at        timestamptz not null
);

create table workspaces (
  id         uuid primary key,
  name       text not null,
  created_at timestamptz not null
);

create table memberships (
  workspace_id uuid not null references workspaces on delete cascade,
  account_id   uuid not null references accounts on delete cascade,
  role         text not null check (role in ('owner', 'admin', 'member', 'viewer')),
  created_at   timestamptz not null,
  primary key (workspace_id, account_id)
);
create index memberships_by_account on memberships (account_id);

-- Who asked for an account and has not yet proven the address. One row an address, there whether or not the
-- address has an account, so that nothing about it can be learned from how a request goes.
create table registrations (
  email          text primary key check (email = lower(email)),
  name           text,
  password_hash  text not null,
  -- A few bits of a keyed hash: enough to tell that two requests named different passwords, not to guess one.
  password_tag   integer not null,
  -- Different passwords were asked for within the life of this row. None of them is taken then.
  contested      boolean not null default false,
  otp_hash       bytea,
  otp_expires_at timestamptz not null,
  otp_tries      integer not null default 0,
  created_at     timestamptz not null
);

create table sessions (
  id           uuid primary key,
  account_id   uuid not null references accounts on delete cascade,
  user_agent   text,
  ip           text,
  created_at   timestamptz not null,
  last_used_at timestamptz not null,
  expires_at   timestamptz not null,
  ended_at     timestamptz
);
create index sessions_by_account on sessions (account_id, id desc);

create table refresh_tokens (
  token_hash bytea primary key,
  session_id uuid not null references sessions on delete cascade,
  created_at timestamptz not null,
  spent_at   timestamptz
);
create index refresh_tokens_by_session on refresh_tokens (session_id);

create table password_resets (
  token_hash bytea primary key,
  account_id uuid not null references accounts on delete cascade,
  expires_at timestamptz not null
);
create index password_resets_by_account on password_resets (account_id);

create table stream_tickets (
  ticket_hash bytea primary key,
  session_id  uuid not null references sessions on delete cascade,
  expires_at  timestamptz not null
);

-- Mails that are owed. They hold an address and a reason, never a code or a token: those are made when the mail
-- is sent, so that none of them ever lies in the database in the clear.
create table owed_mails (
  id         uuid primary key,
  kind       text not null,
  email      text not null,
  attempts   integer not null default 0,
  due_at     timestamptz not null,
  created_at timestamptz not null
);
create index owed_mails_by_due on owed_mails (due_at);

-- Requests counted in windows of a minute, brought together from all instances. Losing it in a crash loses
-- a minute of counting; not writing it to the log keeps it cheap.
create unlogged table request_counts (
  key    text not null,
  bucket bigint not null,
  count  integer not null,
  primary key (key, bucket)
);

create table master_keys (
  id         text primary key,
  created_at timestamptz not null default now()
);

-- One key a workspace seals its values with, itself wrapped by the master key.
create table data_keys (
  workspace_id  uuid not null references workspaces on delete cascade,
  id            uuid not null unique,
  master_key_id text not null references master_keys,
  wrapped       bytea not null,
  created_at    timestamptz not null,
  retired_at    timestamptz,
  primary key (workspace_id, id)
);
create unique index data_keys_one_current on data_keys (workspace_id) where retired_at is null;
