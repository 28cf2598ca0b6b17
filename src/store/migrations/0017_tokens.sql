-- API tokens, and what somebody may reach who is limited to some projects: a member, or a token.

-- A member who is limited sees the projects of `member_projects` alone, with the role of each.
alter table memberships add column limited boolean not null default false;

create table member_projects (
  workspace_id uuid not null,
  account_id   uuid not null,
  project_id   uuid not null,
  role         text not null check (role in ('admin', 'member', 'viewer')),
  primary key (workspace_id, account_id, project_id),
  foreign key (workspace_id, account_id) references memberships (workspace_id, account_id) on delete cascade,
  foreign key (workspace_id, project_id) references projects (workspace_id, id) on delete cascade
);
create index member_projects_by_project on member_projects (workspace_id, project_id);

-- Only the hash is stored. A token ends with its maker's membership: it can do no more than its maker.
create table api_tokens (
  workspace_id uuid not null,
  id           uuid not null unique,
  account_id   uuid not null,
  name         text not null,
  token_hash   bytea not null unique,
  -- The first characters, so that its owner knows which one it is.
  start        text not null,
  abilities    text[] not null,
  project_id   uuid,
  expires_at   timestamptz,
  last_used_at timestamptz,
  created_at   timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, account_id) references memberships (workspace_id, account_id) on delete cascade,
  foreign key (workspace_id, project_id) references projects (workspace_id, id) on delete cascade
);
create index api_tokens_by_account on api_tokens (workspace_id, account_id, id desc);
create index api_tokens_by_expiry on api_tokens (expires_at) where expires_at is not null;
create index api_tokens_by_project on api_tokens (workspace_id, project_id);

-- As for sessions: the streams that stood on it end at once.
create trigger api_tokens_tell_delete after delete on api_tokens
  for each row execute function tell_session_end();
create trigger member_projects_tell_change after insert or update or delete on member_projects
  for each statement execute function tell_access_change();

-- Stored with the operation, not asked for later: what it takes down is gone when it has ended.
alter table operations add column project_id uuid;

-- The project that a thing of a workspace belongs to; null for what belongs to the workspace as a whole.
create function project_of(workspace uuid, type text, thing uuid) returns uuid stable language sql as $$
  select case type
    when 'project' then (select id from projects where workspace_id = workspace and id = thing)
    when 'environment' then (select project_id from environments where workspace_id = workspace and id = thing)
    when 'deployment' then (
      select e.project_id from deployments d
      join environments e on e.workspace_id = d.workspace_id and e.id = d.environment_id
      where d.workspace_id = workspace and d.id = thing)
    when 'backup' then (
      select e.project_id from backups b
      join environments e on e.workspace_id = b.workspace_id and e.id = b.environment_id
      where b.workspace_id = workspace and b.id = thing)
    when 'operation' then (select project_id from operations where workspace_id = workspace and id = thing)
  end
$$;

update operations set project_id = project_of(workspace_id, subject_type, subject_id) where finished_at is null;
create index operations_by_project on operations (workspace_id, project_id, id desc) where project_id is not null;

create function operations_note_project() returns trigger language plpgsql as $$
begin
  new.project_id := project_of(new.workspace_id, new.subject_type, new.subject_id);
  return new;
end $$;
create trigger operations_note_project before insert on operations
  for each row execute function operations_note_project();
