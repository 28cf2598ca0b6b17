-- The audit log: who changed what, from where. Names are stored as they were, and nothing refers to other tables: an entry
-- outlives whom and what it is about.
create table audit_entries (
  id           uuid primary key,
  -- Null where it belongs to none: a sign-in of somebody who is in no workspace.
  workspace_id uuid,
  at           timestamptz not null,
  actor_kind   text not null check (actor_kind in ('person', 'token', 'push', 'schedule', 'service')),
  account_id   uuid,
  token_id     uuid,
  -- An address, the name of a token, a Git host, the name of a schedule.
  actor_name   text,
  action       text not null,
  subject_type text,
  subject_id   text,
  -- What was asked for, and what was there before; never a secret.
  changes      jsonb,
  ip           text,
  request_id   text
);
create index audit_by_workspace on audit_entries (workspace_id, id desc);
create index audit_by_account on audit_entries (workspace_id, account_id, id desc);
create index audit_by_subject on audit_entries (workspace_id, subject_id, id desc);
create index audit_by_age on audit_entries (at);

-- Written once. What is younger than thirty days cannot be deleted either, by whomever and whatever is set: only the
-- retention removes entries, and it keeps them for longer than that.
create function audit_keep() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and old.at < now() - interval '30 days' then
    return old;
  end if;
  raise exception 'the audit log is only written to' using errcode = 'P0001';
end $$;
create trigger audit_keep_rows before update or delete on audit_entries
  for each row execute function audit_keep();
create trigger audit_keep_all before truncate on audit_entries
  for each statement execute function audit_keep();
