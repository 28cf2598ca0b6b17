-- Backups: what was taken, where it lies, how it was tried, and what waits to be taken next.

-- Places outside of this machine. They are never changed: older backups lie where their row says. None means the
-- folder of the service.
create table backup_destinations (
  workspace_id       uuid not null references workspaces on delete cascade,
  id                 uuid not null unique,
  type               text not null check (type in ('s3')),
  endpoint           text not null,
  region             text not null,
  bucket             text not null,
  prefix             text not null,
  access_key_id      text not null,
  credentials_sealed bytea not null,
  created_at         timestamptz not null,
  primary key (workspace_id, id)
);

create table backup_configs (
  workspace_id   uuid not null,
  environment_id uuid not null,
  enabled        boolean not null,
  cron           text not null,
  timezone       text not null,
  keep_last      integer not null,
  keep_days      integer not null,
  verify         boolean not null,
  destination_id uuid,
  -- When the schedule asks for the next one, by whichever instance comes first; null while it is off.
  next_run_at    timestamptz,
  last_run_at    timestamptz,
  updated_at     timestamptz not null,
  primary key (workspace_id, environment_id),
  foreign key (workspace_id, environment_id) references environments (workspace_id, id) on delete cascade,
  foreign key (workspace_id, destination_id) references backup_destinations (workspace_id, id)
);
create index backup_configs_by_destination on backup_configs (workspace_id, destination_id);
create index backup_configs_by_run on backup_configs (next_run_at) where next_run_at is not null;

-- Not bound to the environment: a backup outlives one that was deleted without its data.
create table backups (
  workspace_id     uuid not null references workspaces on delete cascade,
  id               uuid not null unique,
  environment_id   uuid not null,
  -- As it was called then: it may be gone.
  environment_name text not null,
  -- Of one service; null for the whole environment.
  service_id       uuid,
  trigger          text not null check (trigger in ('manual', 'schedule', 'pre_restore', 'pre_import')),
  status           text not null check (status in ('queued', 'dumping', 'storing', 'verifying', 'succeeded', 'failed')),
  verify           boolean not null,
  destination_id   uuid,
  operation_id     uuid,
  requested_by     uuid,
  size_bytes       bigint,
  sha256           text,
  verified_at      timestamptz,
  fault            jsonb,
  -- Failed, and something of it may still lie at its destination: when to try to clear that away.
  clear_at         timestamptz,
  -- It is to go: its objects first, tried from this time on. It is not shown any more.
  delete_at        timestamptz,
  created_at       timestamptz not null,
  finished_at      timestamptz,
  primary key (workspace_id, id),
  foreign key (workspace_id, destination_id) references backup_destinations (workspace_id, id)
);
create index backups_by_environment on backups (workspace_id, environment_id, id desc);
create index backups_unfinished on backups (workspace_id, environment_id) where finished_at is null;
create index backups_by_operation on backups (workspace_id, operation_id);
create index backups_to_clear on backups (clear_at) where clear_at is not null;
create index backups_to_delete on backups (delete_at) where delete_at is not null;
create index backups_by_destination on backups (workspace_id, destination_id);

create table backup_parts (
  workspace_id  uuid not null,
  id            uuid not null unique,
  backup_id     uuid not null,
  place         integer not null,
  source_type   text not null check (source_type in ('service', 'volume')),
  service_id    uuid,
  name          text not null,
  kind          text not null,
  version       text,
  format        text not null,
  -- Of its object at the destination.
  object_name   text not null,
  -- Opens the object where it is encrypted.
  key_sealed    bytea,
  -- As it lies there; of the dump itself; and of what the database gave.
  size_bytes    bigint,
  dump_bytes    bigint,
  raw_bytes     bigint,
  -- Of the dump, as it is downloaded.
  sha256        text,
  -- What a restored copy is compared by, from the snapshot that was dumped.
  figures       jsonb,
  warning       text,
  verification  jsonb not null,
  stored_at     timestamptz,
  primary key (workspace_id, id),
  foreign key (workspace_id, backup_id) references backups (workspace_id, id) on delete cascade
);
create unique index backup_parts_by_backup on backup_parts (workspace_id, backup_id, place);

-- Restores and imports: what is being put in place, and from what.
create table backup_restores (
  workspace_id   uuid not null references workspaces on delete cascade,
  id             uuid not null unique,
  environment_id uuid not null,
  source         text not null check (source in ('backup', 'upload')),
  -- Null for an upload.
  backup_id      uuid,
  service_id     uuid,
  -- Where an upload lies.
  server_id      uuid,
  upload_bytes   bigint,
  operation_id   uuid,
  status         text not null check (status in ('uploading', 'queued', 'running', 'succeeded', 'failed')),
  -- While an upload arrives, again and again; one that is not any more was cut off with the service.
  touched_at     timestamptz not null,
  -- An upload that came to nothing may still lie on the server: when to try to clear that away.
  clear_at       timestamptz,
  created_at     timestamptz not null,
  finished_at    timestamptz,
  primary key (workspace_id, id)
);
create index backup_restores_unfinished on backup_restores (workspace_id, environment_id) where finished_at is null;
create index backup_restores_of_backup on backup_restores (workspace_id, backup_id) where finished_at is null;
create index backup_restores_uploading on backup_restores (touched_at) where status = 'uploading';
create index backup_restores_finished on backup_restores (finished_at) where finished_at is not null;
create index backup_restores_to_clear on backup_restores (clear_at) where clear_at is not null;

-- Data that a restore or an import has replaced, kept for a while under the name it was given.
create table backup_replaced (
  workspace_id   uuid not null,
  id             uuid not null unique,
  environment_id uuid not null,
  server_id      uuid not null,
  restore_id     uuid not null,
  place          integer not null,
  service_id     uuid,
  -- Of a volume of the application.
  volume_name    text,
  before_name    text not null,
  discard_at     timestamptz not null,
  created_at     timestamptz not null,
  primary key (workspace_id, id),
  unique (workspace_id, restore_id, place),
  foreign key (workspace_id, environment_id) references environments (workspace_id, id) on delete cascade
);
create index backup_replaced_by_discard on backup_replaced (discard_at);
create index backup_replaced_by_environment on backup_replaced (workspace_id, environment_id);
