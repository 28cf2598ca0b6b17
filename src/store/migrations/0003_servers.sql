-- Servers, what is known of them, and the memory of requests that may be sent twice.

create table servers (
  workspace_id         uuid not null references workspaces on delete cascade,
  id                   uuid not null,
  name                 text not null,
  host                 text not null,
  port                 integer not null check (port between 1 and 65535),
  username             text not null,
  -- Ours: the private half stays here, the public half is what the server has in its authorized_keys.
  private_key_sealed   bytea not null,
  public_key           text not null,
  -- Pinned at first contact, or given. Null until then.
  host_key             text,
  -- What the server shows instead, when it is not the pinned one: nothing is done there until a person accepts it.
  offered_host_key     text,
  status               text not null check (status in ('pending', 'ready', 'unreachable', 'host_key_changed')),
  -- Why it is not ready, as a fault.
  problem              jsonb,
  facts                jsonb,
  -- Set once everything that Slipway needs is on it.
  provisioned_at       timestamptz,
  last_seen_at         timestamptz,
  -- The next look at it, by whichever instance comes first.
  check_at             timestamptz not null,
  -- How often in a row it could not be reached.
  missed               integer not null default 0,
  security_state       text check (security_state in ('unknown', 'at_risk', 'fair', 'hardened')),
  security_score       integer check (security_score between 0 and 100),
  security_checks      jsonb,
  security_checked_at  timestamptz,
  created_at           timestamptz not null,
  updated_at           timestamptz not null,
  primary key (workspace_id, id),
  unique (id)
);
create index servers_by_check on servers (check_at);
create unique index servers_by_name on servers (workspace_id, lower(name));

-- One of a kind at a time on a server: a second provisioning or hardening would fight the first.
create unique index operations_one_active_per_server on operations (server_id, kind)
  where finished_at is null and kind in ('server_provision', 'server_harden', 'server_undo_hardening');

-- What an Idempotency-Key was answered with. A claim without an answer is a request under way, or one that died.
create table idempotency_keys (
  workspace_id uuid not null references workspaces on delete cascade,
  key          text not null,
  -- Method, path and body, hashed: the same key with another request is a mistake.
  fingerprint  bytea not null,
  claim        uuid not null,
  claimed_at   timestamptz not null,
  status       integer,
  location     text,
  body         jsonb,
  answered_at  timestamptz,
  primary key (workspace_id, key)
);
create index idempotency_keys_by_age on idempotency_keys (claimed_at);
