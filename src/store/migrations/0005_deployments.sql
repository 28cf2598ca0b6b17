-- Environments on servers, their releases and deployments, and the services that belong to them.

-- Operations with the same key run one after the other, in the order of their making.
alter table operations add column queue_key uuid;
create index operations_by_queue on operations (queue_key, created_at, id)
  where finished_at is null and queue_key is not null;

alter table environments
  -- What the user wants; `status` is what is.
  add column wanted          text not null default 'running' check (wanted in ('running', 'stopped')),
  add column current_deployment uuid,
  add column current_release uuid,
  -- Why it is degraded, as a fault.
  add column problem         jsonb,
  -- What was seen of its containers at the last look, to tell a new crash from an old one.
  add column seen            jsonb not null default '{}',
  -- The next look at what runs.
  add column look_at         timestamptz not null default now();
create index environments_by_look on environments (look_at);

-- Where an environment stands: one row, and two while it moves.
create table environment_places (
  workspace_id   uuid not null,
  environment_id uuid not null,
  server_id      uuid not null,
  -- Its own address on the server's proxy, and its own network there.
  port           integer not null check (port between 1 and 65535),
  network        integer not null check (network between 0 and 2047),
  created_at     timestamptz not null,
  primary key (workspace_id, environment_id, server_id),
  foreign key (workspace_id, environment_id) references environments (workspace_id, id) on delete cascade,
  foreign key (workspace_id, server_id) references servers (workspace_id, id)
);
create unique index environment_places_by_port on environment_places (server_id, port);
create unique index environment_places_by_network on environment_places (server_id, network);

-- What was built and how it runs. Never changed: a rollback points to one again.
create table releases (
  workspace_id     uuid not null,
  id               uuid not null unique,
  environment_id   uuid not null,
  image            text not null,
  image_digest     text not null,
  -- Of the files, the build settings and the secrets of the build: the same key is the same image.
  build_key        text not null,
  commit           jsonb not null,
  -- How its containers are run.
  run              jsonb not null,
  variables_sealed bytea not null,
  created_at       timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, environment_id) references environments (workspace_id, id) on delete cascade
);
create index releases_by_environment on releases (workspace_id, environment_id, id desc);

create table deployments (
  workspace_id   uuid not null,
  id             uuid not null unique,
  environment_id uuid not null,
  number         integer not null,
  trigger        text not null check (trigger in ('manual', 'push', 'finalize', 'rollback', 'retry', 'variables', 'move')),
  -- What was asked for: a branch or a commit.
  wanted         jsonb not null,
  commit         jsonb,
  status         text not null check (status in ('queued', 'preparing', 'building', 'starting', 'switching',
                   'succeeded', 'failed', 'cancelled', 'superseded')),
  steps          jsonb not null default '[]',
  operation_id   uuid,
  server_id      uuid not null,
  -- The release that it made, or the one that it goes back to.
  release_id     uuid,
  image_digest   text,
  -- The deployment whose release is put back, and with which variables.
  rollback_of    uuid,
  plan           jsonb,
  probes         jsonb not null default '[]',
  fault          jsonb,
  superseded_by  uuid,
  requested_by   uuid,
  queued_at      timestamptz not null,
  started_at     timestamptz,
  finished_at    timestamptz,
  primary key (workspace_id, id),
  unique (environment_id, number),
  foreign key (workspace_id, environment_id) references environments (workspace_id, id) on delete cascade
);
-- Whatever else goes wrong: never two at work on one environment.
create unique index deployments_one_active on deployments (environment_id)
  where status in ('preparing', 'building', 'starting', 'switching');
create index deployments_by_environment on deployments (workspace_id, environment_id, id desc);
create index deployments_queued on deployments (environment_id) where status = 'queued';

create table services (
  workspace_id       uuid not null,
  id                 uuid not null unique,
  environment_id     uuid not null,
  kind               text not null check (kind in ('postgres', 'mysql', 'mariadb', 'mongodb', 'redis')),
  -- Its name on the environment's network, too.
  name               text not null,
  version            text not null,
  -- The version that ran last on its data; null where there is none yet.
  data_version       text,
  -- Of its address on the environment's network.
  slot               integer not null check (slot between 2 and 15),
  memory_mb          integer,
  storage            text,
  -- Made with the first start; the volume knows no other.
  credentials_sealed bytea,
  -- Where its volume is; null before its first start.
  server_id          uuid,
  status             text not null check (status in ('pending', 'starting', 'running', 'failed', 'stopped', 'removed')),
  problem            jsonb,
  created_at         timestamptz not null,
  updated_at         timestamptz not null,
  -- Not wanted any more; the row stays as long as its data does.
  removed_at         timestamptz,
  primary key (workspace_id, id),
  foreign key (workspace_id, environment_id) references environments (workspace_id, id) on delete cascade,
  foreign key (workspace_id, server_id) references servers (workspace_id, id)
);
create unique index services_by_name on services (environment_id, name) where removed_at is null;
create unique index services_by_slot on services (environment_id, slot) where removed_at is null;
create index services_by_environment on services (workspace_id, environment_id);

-- Names were free until now: of two that are the same, the later one gets a number.
insert into services (workspace_id, id, environment_id, kind, name, version, slot, memory_mb, storage, status,
  created_at, updated_at)
select workspace_id, gen_random_uuid(), id, kind, case when twin = 1 then name else name || '-' || twin end, version,
  place + 1, memory_mb, storage, 'pending', updated_at, updated_at
from (
  select e.workspace_id, e.id, e.updated_at, place, s ->> 'kind' as kind, coalesce(s ->> 'name', s ->> 'kind') as name,
    coalesce(s ->> 'version', '') as version, (s ->> 'memoryMb')::integer as memory_mb, s ->> 'storage' as storage,
    row_number() over (partition by e.id, coalesce(s ->> 'name', s ->> 'kind') order by place) as twin
  from environments e, jsonb_array_elements(e.services) with ordinality as listed (s, place)
) as before;
alter table environments drop column services;
