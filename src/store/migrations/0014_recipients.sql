-- Who gets mail of a workspace without being a member of it, and whether they agreed to.
create table notification_recipients (
  workspace_id     uuid not null references workspaces on delete cascade,
  id               uuid not null unique,
  email            text not null,
  status           text not null check (status in ('pending', 'confirmed', 'declined')),
  -- When they were asked last; null where too many were asked that day.
  asked_at         timestamptz,
  -- How often.
  asks             integer not null,
  -- Of the link in the mail that asks, as a hash; null once it was used.
  token_hash       bytea unique,
  token_expires_at timestamptz,
  created_at       timestamptz not null,
  answered_at      timestamptz,
  primary key (workspace_id, id)
);
create unique index notification_recipients_by_email on notification_recipients (workspace_id, email);
create index notification_recipients_asked on notification_recipients (email, asked_at);
