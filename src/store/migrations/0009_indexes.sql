-- Statements that read a whole table to find a few rows; `test/plans.test.ts` found them.
create index stream_tickets_expires_at on stream_tickets (expires_at);
create index password_resets_expires_at on password_resets (expires_at);
create index registrations_created_at on registrations (created_at);
create index sessions_over_at on sessions (coalesce(ended_at, expires_at));
create index operations_server_kind on operations (server_id, kind);
create index servers_security_due on servers (security_checked_at nulls first) where status = 'ready';
create index environment_domains_www on environment_domains (('www.' || hostname)) where www <> 'none';
