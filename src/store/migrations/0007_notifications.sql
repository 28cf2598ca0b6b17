-- What people are told of: notices, the connectors they leave by, and each delivery with what became of it.

-- Something that happened and that somebody may want to hear of, written with the change itself.
create table notices (
  workspace_id   uuid not null references workspaces on delete cascade,
  id             uuid not null unique,
  kind           text not null,
  -- The same thing told twice is one notice.
  key            text not null,
  subject_type   text not null,
  subject_id     uuid not null,
  project_id     uuid,
  environment_id uuid,
  data           jsonb not null,
  at             timestamptz not null,
  -- When it was handed to the connectors that listen; null until then.
  dispatched_at  timestamptz,
  primary key (workspace_id, id),
  foreign key (workspace_id, project_id) references projects (workspace_id, id) on delete cascade
);
create unique index notices_by_key on notices (workspace_id, key);
create index notices_by_project on notices (workspace_id, project_id) where project_id is not null;
create index notices_undispatched on notices (id) where dispatched_at is null;
create index notices_by_age on notices (at);

create table notification_connectors (
  workspace_id    uuid not null references workspaces on delete cascade,
  id              uuid not null unique,
  type            text not null,
  name            text not null,
  events          text[] not null,
  -- It hears of every project; otherwise only of those it is linked to.
  all_projects    boolean not null,
  config_sealed   bytea not null,
  -- Where it leads, as far as it may be shown: a host, a channel, addresses.
  target          text not null,
  enabled         boolean not null,
  -- Why we switched it off; null where it is on, or where its owner did.
  disabled_reason text,
  -- Failed tries in a row, and since when.
  failures        integer not null default 0,
  failing_since   timestamptz,
  -- When there is something to send by it; null where there is nothing.
  wake_at         timestamptz,
  -- One instance at a time sends by it. The owner is another with each lease.
  lease_owner     uuid,
  lease_until     timestamptz,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  primary key (workspace_id, id)
);
create index notification_connectors_by_wake on notification_connectors (wake_at) where wake_at is not null;

create table notification_links (
  workspace_id uuid not null,
  project_id   uuid not null,
  connector_id uuid not null,
  -- Null: what the connector itself listens to.
  events       text[],
  primary key (workspace_id, project_id, connector_id),
  foreign key (workspace_id, project_id) references projects (workspace_id, id) on delete cascade,
  foreign key (workspace_id, connector_id) references notification_connectors (workspace_id, id) on delete cascade
);
create index notification_links_by_connector on notification_links (workspace_id, connector_id);

create table notification_deliveries (
  workspace_id  uuid not null,
  id            uuid not null unique,
  connector_id  uuid not null,
  -- Null: a test that somebody asked for.
  notice_id     uuid,
  event         text not null,
  -- Of the message it left in; several share one where they came close together. Never another once it was tried.
  message_id    uuid,
  status        text not null check (status in ('pending', 'sending', 'delivered', 'failed', 'unknown')),
  attempts      integer not null default 0,
  -- What the receiver answered at the last try, and how long it took.
  answer_status integer,
  latency_ms    integer,
  detail        text,
  created_at    timestamptz not null,
  attempted_at  timestamptz,
  finished_at   timestamptz,
  primary key (workspace_id, id),
  foreign key (workspace_id, connector_id) references notification_connectors (workspace_id, id) on delete cascade,
  foreign key (workspace_id, notice_id) references notices (workspace_id, id) on delete cascade
);
-- A notice goes once to a connector.
create unique index notification_deliveries_once on notification_deliveries (workspace_id, notice_id, connector_id);
create index notification_deliveries_by_connector on notification_deliveries (workspace_id, connector_id, id desc);
create index notification_deliveries_open on notification_deliveries (workspace_id, connector_id, id)
  where status in ('pending', 'sending');
create index notification_deliveries_by_age on notification_deliveries (created_at);

-- Mails that say more than their kind: never a code or a token, as before.
alter table owed_mails add column data jsonb not null default '{}';

-- Where an account was signed in from: a kind of browser and a part of an address. Sessions themselves go a day after their end.
create table sign_in_places (
  account_id uuid not null references accounts on delete cascade,
  place      text not null,
  seen_at    timestamptz not null,
  primary key (account_id, place)
);
create index sign_in_places_by_age on sign_in_places (seen_at);
