-- The event log, and durable operations with their journal.

-- A feed is a line of events in one order: a workspace has one (its own id), each operation has one (the
-- operation's id). Its row is locked by whoever appends, until they commit: so positions have no gaps, and
-- are visible in their order, whatever the order of commits elsewhere.
create table event_feeds (
  workspace_id uuid not null references workspaces on delete cascade,
  id           uuid not null,
  position     bigint not null,
  -- Events up to this position have been removed with age.
  pruned_to    bigint not null default 0,
  primary key (workspace_id, id)
);

create table events (
  workspace_id uuid not null,
  feed_id      uuid not null,
  position     bigint not null,
  kind         text not null,
  data         jsonb not null,
  at           timestamptz not null,
  primary key (workspace_id, feed_id, position),
  foreign key (workspace_id, feed_id) references event_feeds (workspace_id, id) on delete cascade
);
create index events_by_age on events (at);

create table operations (
  workspace_id        uuid not null references workspaces on delete cascade,
  id                  uuid not null unique,
  kind                text not null,
  -- What it works on: its type in words, and its id.
  subject_type        text,
  subject_id          uuid,
  -- Operations on one server are limited together.
  server_id           uuid,
  input               jsonb not null,
  state               text not null default 'queued'
                      check (state in ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
  -- Set once it goes backwards: the steps are being undone, and this is how it will end.
  unwinding           text check (unwinding in ('failed', 'cancelled')),
  step                text,
  progress            jsonb,
  result              jsonb,
  fault               jsonb,
  requested_by        uuid references accounts on delete set null,
  cancel_requested_at timestamptz,
  -- The lease. The epoch only grows; whoever holds an older one can write nothing more.
  lease_epoch         bigint not null default 0,
  lease_owner         uuid,
  lease_until         timestamptz,
  -- Not before this moment: the pause before a step is tried again.
  wake_at             timestamptz not null default now(),
  created_at          timestamptz not null default now(),
  started_at          timestamptz,
  finished_at         timestamptz,
  primary key (workspace_id, id),
  check ((state in ('succeeded', 'failed', 'cancelled')) = (finished_at is not null))
);
create index operations_active on operations (wake_at, created_at) where finished_at is null;
create index operations_active_by_workspace on operations (workspace_id) where finished_at is null;
create index operations_active_by_server on operations (server_id) where finished_at is null;
create index operations_by_workspace on operations (workspace_id, id desc);

-- A terminal state is final, whoever tries.
create function operations_keep_terminal() returns trigger language plpgsql as $$
begin
  if old.finished_at is not null then
    raise exception 'operation % has ended as % and cannot change', old.id, old.state using errcode = 'P0001';
  end if;
  return new;
end $$;
create trigger operations_keep_terminal before update on operations
  for each row execute function operations_keep_terminal();

create table operation_steps (
  workspace_id uuid not null,
  operation_id uuid not null,
  name         text not null,
  place        integer not null,
  status       text not null check (status in ('running', 'waiting', 'done', 'failed', 'undoing', 'undone')),
  attempt      integer not null,
  output       jsonb,
  started_at   timestamptz not null,
  finished_at  timestamptz,
  primary key (operation_id, name),
  foreign key (workspace_id, operation_id) references operations (workspace_id, id) on delete cascade
);

-- How many operations may run at once, where it differs from the settings. Changed while running.
create table operation_limits (
  scope      text not null check (scope in ('workspace', 'server')),
  subject_id uuid not null,
  most       integer not null check (most >= 0),
  primary key (scope, subject_id)
);

-- A session that ends, and a membership that goes, are told to all instances, whoever changes them: the open
-- streams that stood on them end at once.
create function tell_session_end() returns trigger language plpgsql as $$
begin
  perform pg_notify('slipway_sessions', old.id::text);
  return null;
end $$;
create trigger sessions_tell_end after update of ended_at on sessions
  for each row when (old.ended_at is null and new.ended_at is not null) execute function tell_session_end();
create trigger sessions_tell_delete after delete on sessions
  for each row execute function tell_session_end();

create function tell_access_change() returns trigger language plpgsql as $$
begin
  perform pg_notify('slipway_sessions', 'check');
  return null;
end $$;
create trigger memberships_tell_change after update or delete on memberships
  for each statement execute function tell_access_change();
