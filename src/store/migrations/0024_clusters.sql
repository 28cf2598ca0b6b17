-- Clusters: Docker Swarms that Slipway makes and looks after, and the servers in them.
create table clusters (
  workspace_id uuid not null references workspaces on delete cascade,
  id           uuid not null unique,
  name         text not null,
  -- Over which members speak with each other. Null: each by the address that it is logged in to at.
  network      cidr,
  status       text not null
               check (status in ('creating', 'ready', 'degraded', 'no_quorum', 'unreachable', 'failed')),
  -- Why it is not ready, as a fault.
  problem      jsonb,
  -- The operation that changes it, or did last.
  operation_id uuid,
  -- The next look at it, by whichever instance comes first.
  check_at     timestamptz not null,
  checked_at   timestamptz,
  created_at   timestamptz not null,
  updated_at   timestamptz not null,
  primary key (workspace_id, id)
);
create index clusters_by_check on clusters (check_at);
create unique index clusters_by_name on clusters (workspace_id, lower(name));

create table cluster_members (
  workspace_id     uuid not null,
  cluster_id       uuid not null,
  -- In one cluster at a time.
  server_id        uuid not null unique,
  state            text not null check (state in ('joining', 'ready', 'down', 'leaving')),
  role             text check (role in ('manager', 'worker')),
  is_leader        boolean not null default false,
  availability     text not null default 'active' check (availability in ('active', 'drain')),
  node_id          text,
  -- By which the others reach it.
  address          text,
  -- Whether its kernel can encrypt an overlay network.
  can_encrypt      boolean,
  -- As it was before it joined, and is again when it has left.
  had_live_restore boolean,
  down_since       timestamptz,
  created_at       timestamptz not null,
  primary key (workspace_id, server_id),
  foreign key (workspace_id, cluster_id) references clusters (workspace_id, id) on delete cascade,
  foreign key (workspace_id, server_id) references servers (workspace_id, id)
);
create index cluster_members_by_cluster on cluster_members (workspace_id, cluster_id);
