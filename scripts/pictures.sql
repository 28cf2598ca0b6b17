-- A small company's workspace, as the pictures of the README show it: rows of what Slipway itself would have written. The
-- one account is there already. Nothing of it is ever due, so nobody goes out to servers that do not exist.

create function pg_temp.id_of(what text, at timestamptz) returns uuid language sql immutable as $$
  select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || substr(md5(what), 1, 3) || '8' ||
    substr(md5(what), 4, 15))::uuid
$$;
-- Lists are in the order of ids.
create function pg_temp.environment_of(slug text, at timestamptz) returns uuid language sql immutable as $$
  select pg_temp.id_of(slug, at + case when slug like '%-staging' then interval '1 second' else interval '0' end)
$$;
create function pg_temp.project_of(project text, at timestamptz) returns uuid language sql immutable as $$
  select pg_temp.id_of(project, at - (ascii(project) - 65) * interval '1 minute')
$$;
create temp table me as
select m.workspace_id as workspace, m.account_id as account, now() as now, now() - interval '90 days' as at,
  timestamptz '2100-01-01' as never
from memberships m;
update workspaces set name = 'Tide Books';
update accounts set name = 'Ada Lovelace';

create temp table s (name text, host text, os text, memory int, cpus int, score int, seen interval);
insert into s values
  ('ams-1', '203.0.113.10', 'Debian GNU/Linux 13 (trixie)', 16384, 8, 96, '20 seconds'),
  ('fra-1', '203.0.113.24', 'Debian GNU/Linux 13 (trixie)', 8192, 4, 92, '40 seconds');
insert into servers (workspace_id, id, name, host, port, username, private_key_sealed, public_key, host_key, status, facts,
  provisioned_at, last_seen_at, check_at, security_state, security_score, security_checked_at, created_at, updated_at)
select workspace, pg_temp.id_of(name, at), name, host, 22, 'root', '\x00', 'ssh-ed25519 AAAA', 'SHA256:' || md5(name), 'ready',
  jsonb_build_object('os', os, 'arch', 'x86_64', 'cpus', cpus, 'memoryMb', memory, 'diskFreeMb', memory * 9,
    'dockerVersion', '26.1.5', 'kernel', '6.12.43'),
  at, now - seen, never, 'hardened', score, never, at, at
from s, me;

create temp table e (project text, name text, branch text, hostname text, server text, status text, port int);
insert into e values
  ('Bookshop', 'production', 'main', 'shop.tide.example', 'ams-1', 'running', 0),
  ('Bookshop', 'staging', 'next', 'next.tide.example', 'fra-1', 'running', 1),
  ('Newsletter', 'production', 'main', 'news.tide.example', 'fra-1', 'running', 2),
  ('Reading room', 'production', 'main', 'rooms.tide.example', 'ams-1', 'deploying', 3),
  ('Warehouse API', 'production', 'main', 'api.tide.example', 'ams-1', 'running', 4),
  ('Warehouse API', 'staging', 'next', 'api2.tide.example', 'fra-1', 'running', 5);
alter table e add slug text generated always as (lower(replace(project, ' ', '-')) || '-' || name) stored;
insert into projects (workspace_id, id, name, slug, repository_kind, full_name, clone_url, branch, root_directory, status,
  analysis_status, analysis_id, created_at, updated_at)
select distinct workspace, pg_temp.project_of(project, at), project, lower(replace(project, ' ', '-')), 'url',
  'tide/' || lower(replace(project, ' ', '-')), 'https://git.example/tide/' || lower(replace(project, ' ', '-')),
  'main', '', 'active', 'succeeded', pg_temp.id_of('analysis ' || project, at), at, at
from e, me;
insert into environments (workspace_id, id, project_id, name, slug, branch, server_id, auto_deploy, settings, poll_at, status,
  look_at, created_at, updated_at)
select workspace, pg_temp.environment_of(slug, at), pg_temp.project_of(project, at), name, slug, branch, pg_temp.id_of(server, at), true,
  '{"replicas": 2}', never, status, never, at, at
from e, me;
insert into environment_places (workspace_id, environment_id, server_id, port, network, created_at)
select workspace, pg_temp.environment_of(slug, at), pg_temp.id_of(server, at), 21000 + port, port, at from e, me;
insert into domains (workspace_id, id, hostname, status, token, verified_at, check_at, created_at, updated_at)
select workspace, pg_temp.id_of(hostname, at), hostname, 'verified', md5(hostname), at, never, at, at from e, me;
insert into certificates (workspace_id, id, source, names, status, issuer, not_before, not_after, created_at, updated_at)
select workspace, pg_temp.id_of('certificate ' || hostname, at), 'acme', array[hostname], 'issued', 'R11', at, never, at, at
from e, me;
insert into environment_domains (workspace_id, id, environment_id, domain_id, hostname, ssl_mode, certificate_id,
  redirect_http, www, created_at, updated_at)
select workspace, pg_temp.id_of('name ' || hostname, at), pg_temp.environment_of(slug, at), pg_temp.id_of(hostname, at), hostname, 'auto',
  pg_temp.id_of('certificate ' || hostname, at), true, 'none', at, at
from e, me;
insert into services (workspace_id, id, environment_id, kind, name, version, data_version, slot, server_id, status, created_at,
  updated_at)
select workspace, pg_temp.id_of('postgres ' || slug, at), pg_temp.environment_of(slug, at), 'postgres', 'postgres', '17', '17', 2,
  pg_temp.id_of(server, at), 'running', at, at
from e, me;

create temp table d (slug text, number int, ago interval, ended text, trigger text, author text, message text);
insert into d values
  ('bookshop-production', 41, '6 days 2 hours', 'succeeded', 'push', 'Grace Hopper', 'Send the receipt as a PDF'),
  ('bookshop-production', 42, '4 days 5 hours', 'succeeded', 'push', 'Ada Lovelace', 'Remember the last search'),
  ('bookshop-production', 43, '3 days 3 hours', 'failed', 'push', 'Alan Turing', 'Move prices into a table of their own'),
  ('bookshop-production', 44, '3 days 2 hours', 'succeeded', 'push', 'Alan Turing', 'Create the table before it is read'),
  ('bookshop-production', 45, '1 day 4 hours', 'succeeded', 'push', 'Grace Hopper', 'Show what is in stock nearby'),
  ('bookshop-production', 46, '14 minutes', 'succeeded', 'push', 'Ada Lovelace', 'Show the basket beside the list'),
  ('bookshop-staging', 87, '52 minutes', 'succeeded', 'push', 'Grace Hopper', 'Try the new search'),
  ('newsletter-production', 11, '9 days', 'succeeded', 'push', 'Katherine Johnson', 'Unsubscribe by one click'),
  ('newsletter-production', 12, '2 hours', 'failed', 'push', 'Katherine Johnson', 'Read the lists from the new table'),
  ('reading-room-production', 7, '5 days', 'succeeded', 'manual', 'Alan Turing', 'Open on Sundays'),
  ('reading-room-production', 8, '16 seconds', 'building', 'push', 'Alan Turing', 'Book a table by the window'),
  ('warehouse-api-production', 23, '1 day 3 hours', 'succeeded', 'push', 'Katherine Johnson', 'Count pallets by shelf'),
  ('warehouse-api-staging', 31, '5 hours', 'succeeded', 'push', 'Katherine Johnson', 'Scan two codes at once');
create temp table steps (place int, name text, begins numeric, ends numeric);
insert into steps values (0, 'fetch', 0.1, 0.9), (1, 'plan', 0.9, 1.4), (2, 'send', 1.4, 1.9), (3, 'build', 1.9, 15.2),
  (4, 'create-release', 15.2, 15.4), (5, 'services', 15.4, 15.8), (6, 'start', 15.8, 18.2), (7, 'health', 18.2, 20.1),
  (8, 'prove', 20.1, 20.6), (9, 'switch', 20.6, 21.2), (10, 'promote', 21.2, 21.4);
create temp view told as
select d.*, pace, e.server, me.workspace, me.account, me.at, now - ago as queued, now - ago + pace * case ended when 'failed' then 20.1 else 21.4 end * interval '1 second' as over,
  pg_temp.id_of(slug || number, now - ago) as id, pg_temp.id_of('operation ' || slug || number, now - ago) as operation,
  pg_temp.id_of('release ' || slug || number, now - ago) as release,
  jsonb_build_object('sha', md5(message) || '4f2a9c1d', 'message', message, 'author', author, 'branch', e.branch) as commit,
  case when ended = 'failed' then jsonb_build_object('code', 'app_unhealthy', 'step', 'health',
    'message', 'The new release did not become healthy, so the old one stayed.',
    'hint', 'The app answered with 500. Its last lines say why.',
    'evidence', 'Error: relation "lists" does not exist') end as fault
from d join e using (slug), me, lateral (select 0.7 + (number * 5 % 7) * 0.13 as pace) own;
insert into releases (workspace_id, id, environment_id, image, image_digest, build_key, commit, run, variables_sealed, created_at)
select workspace, release, pg_temp.environment_of(slug, at), 'slipway/' || slug || ':' || number, 'sha256:' || md5(slug || number),
  md5(slug || number), commit,
  '{"port": 8080, "health": {"path": "/healthz", "port": null, "timeoutSeconds": 5, "startSeconds": 60},
    "startCommand": null, "releaseCommand": null, "processes": [], "replicas": 2, "memoryMb": 512, "cpus": null,
    "volumes": [], "drainSeconds": 30, "stopSeconds": 10, "holdSeconds": 30, "isRoot": false, "plainKeys": [],
    "askedOfServices": []}', '\x00', queued
from told where ended = 'succeeded';
insert into deployments (workspace_id, id, environment_id, number, trigger, wanted, commit, status, steps, operation_id,
  server_id, release_id, fault, queued_at, started_at, finished_at)
select workspace, id, pg_temp.environment_of(slug, at), number, trigger, '{"branch": "main"}', commit, ended,
  (select jsonb_agg(jsonb_build_object('name', name,
      'status', case when ended = 'failed' and name = 'health' then 'failed' when ended = 'building' and name = 'build'
        then 'running' else 'done' end,
      'startedAt', queued + begins * pace * interval '1 second',
      'finishedAt', case when ended = 'building' and name = 'build' then null else queued + ends * pace * interval '1 second' end)
    order by place) from steps where place <= case ended when 'failed' then 7 when 'building' then 3 else 11 end),
  operation, pg_temp.id_of(server, at), case when ended = 'succeeded' then release end, fault, queued,
  queued + interval '0.2 seconds', case when ended <> 'building' then over end
from told;
update environments x set current_deployment = l.id, current_release = l.release
from (select distinct on (slug) * from told where ended = 'succeeded' order by slug, number desc) l
where x.id = pg_temp.environment_of(l.slug, l.at);

create temp table lines (place int, step text, line text);
insert into lines select row_number() over (), step, line from (values
  ('fetch', 'Commit ' || substr(md5('Show the basket beside the list'), 1, 12) ||
    ' by Ada Lovelace: Show the basket beside the list'),
  ('plan', 'express app in «.», built with a Dockerfile written for it.'),
  ('build', '#1 [internal] load build definition from Dockerfile'),
  ('build', '#4 [dependencies 1/5] FROM docker.io/library/node:24-slim'),
  ('build', '#7 [dependencies 3/5] COPY package.json package-lock.json ./'),
  ('build', '#8 [dependencies 4/5] RUN npm ci'),
  ('build', E'#8 7.412 \x1b[32madded 214 packages\x1b[39m in 7s'),
  ('build', '#10 [build 2/2] RUN npm run build'),
  ('build', E'#10 1.120 \x1b[36mvite v7.1.5 \x1b[32mbuilding for production...\x1b[39m'),
  ('build', E'#10 2.904 \x1b[32m✓\x1b[39m 148 modules transformed.'),
  ('build', E'#10 3.051 \x1b[2mdist/\x1b[22m\x1b[36massets/index-8d1c.js\x1b[39m   143.20 kB'),
  ('build', '#13 exporting to image'),
  ('start', 'Started 2 containers of the new release.'),
  ('health', 'Health of web-1: healthy after 1400 ms'),
  ('health', 'Health of web-2: healthy after 1600 ms'),
  ('switch', 'The new release takes the requests.')
) as each (step, line);
create temp view feed as
select workspace, id, 'status' as kind, jsonb_build_object('status', 'queued') as data, queued as at, 0 as place
from told where slug = 'bookshop-production' and number = 46
union all
select workspace, id, 'log', jsonb_build_object('step', step, 'line', line), queued + place * interval '1 second', place
from told, lines where slug = 'bookshop-production' and number = 46
union all
select workspace, id, 'end', jsonb_build_object('status', ended, 'fault', null), over, 1000
from told where slug = 'bookshop-production' and number = 46;
insert into event_feeds (workspace_id, id, position) select workspace, id, count(*) from feed group by workspace, id;
insert into events (workspace_id, feed_id, position, kind, data, at)
select workspace, id, row_number() over (order by place), kind, data, at from feed;

create temp view made as
select e.slug, e.name, me.workspace, me.at, date_trunc('day', now) - k * interval '1 day' + interval '3 hours' as on_time,
  k, pg_temp.id_of('backup ' || slug || k, date_trunc('day', now) - k * interval '1 day' + interval '3 hours') as id,
  48211034 - k * 391027 + length(slug) * 100003 as bytes
from e, me, generate_series(0, 6) k
where e.name = 'production' and date_trunc('day', now) - k * interval '1 day' + interval '3 hours' < now;
insert into backups (workspace_id, id, environment_id, environment_name, trigger, status, verify, size_bytes, sha256,
  verified_at, created_at, finished_at)
select workspace, id, pg_temp.environment_of(slug, at), name, 'schedule', 'succeeded', true, bytes, md5(id::text),
  on_time + interval '48 seconds', on_time, on_time + interval '48 seconds'
from made;
insert into backup_parts (workspace_id, id, backup_id, position, source_type, service_id, name, kind, version, format,
  object_name, size_bytes, dump_bytes, raw_bytes, sha256, verification, stored_at)
select workspace, pg_temp.id_of('part ' || slug || k, on_time), id, 0, 'service', pg_temp.id_of('postgres ' || slug, at),
  'postgres', 'postgres', '17', 'pg_dump custom', id || '/0', bytes, bytes, bytes * 4, md5(id::text),
  jsonb_build_object('status', 'verified', 'reason', null, 'at', on_time + interval '48 seconds'), on_time
from made;
insert into backup_configs (workspace_id, environment_id, enabled, cron, timezone, keep_last, keep_days, verify, next_run_at,
  updated_at)
select workspace, pg_temp.environment_of(slug, at), true, '0 3 * * *', 'Europe/Amsterdam', 7, 30, true,
  date_trunc('day', now) + interval '1 day 3 hours', at
from e, me where e.name = 'production';

insert into operations (workspace_id, id, kind, subject_type, subject_id, server_id, input, state, result, fault, lease_epoch,
  wake_at, created_at, started_at, finished_at)
select workspace, operation, 'deployment', 'deployment', id, pg_temp.id_of(server, at), '{}', ended, '{}', fault, 1, queued,
  queued, queued, over
from told where ended <> 'building' and number = (select max(number) from d where d.slug = told.slug);
