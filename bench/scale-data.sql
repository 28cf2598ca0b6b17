-- A large installation, as rows: see scale-data.ts. Sections begin with three dashes and a name; the numbers come as
-- settings of the session (scale.workspaces, scale.busiest, scale.seed, scale.now). The same seed gives the same rows, moved to `now`.

--- functions
-- Ids in the order of time, as the service makes them (UUIDv7): whole pages lie together, as they do in real life.
create function pg_temp.id_of(kind text, n bigint, at timestamptz) returns uuid language sql stable as $$
  select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' ||
    substr(md5(kind), 1, 3) || '8' || substr(md5(current_setting('scale.seed') || kind || n), 1, 15))::uuid
$$;
-- An even number below `most` out of the seed.
create function pg_temp.pick(what text, n bigint, most int) returns int language sql stable as $$
  select (('x' || substr(md5(what || current_setting('scale.seed') || n), 1, 7))::bit(28)::int % most)
$$;
create function pg_temp.now_is() returns timestamptz language sql stable as $$
  select current_setting('scale.now')::timestamptz
$$;
-- Nothing of this is ever due: no schedule of a service that runs on it goes out to servers that do not exist.
create function pg_temp.never() returns timestamptz language sql immutable as $$ select timestamptz '2100-01-01' $$;

--- workspaces
create temp table w as
select n, pg_temp.id_of('workspace', n, at) as id, pg_temp.id_of('account', n, at) as account,
  pg_temp.id_of('provider', n, at) as provider, at
from (select n, pg_temp.now_is() - interval '400 days' + n * interval '1 minute' as at
  from generate_series(1, current_setting('scale.workspaces')::int) n) each;
insert into workspaces (id, name, created_at) select id, 'Workspace ' || n, at from w;
insert into accounts (id, email, name, email_verified_at, created_at)
select account, 'person-' || n || '@scale.example', 'Person ' || n, at, at from w;
insert into memberships (workspace_id, account_id, role, created_at) select id, account, 'owner', at from w;
-- Everyone is a guest of the next one's workspace, too.
insert into memberships (workspace_id, account_id, role, created_at)
select w.id, o.account, 'member', w.at + interval '1 day' from w join w o on o.n = w.n % (select count(*) from w) + 1
where o.n <> w.n;
insert into sessions (id, account_id, user_agent, ip, created_at, last_used_at, expires_at)
select pg_temp.id_of('session', w.n * 100 + s, pg_temp.now_is() - s * interval '1 hour'), account, 'Mozilla/5.0',
  '192.0.2.1', pg_temp.now_is() - s * interval '1 hour', pg_temp.now_is(), pg_temp.never()
from w, generate_series(0, 4) s;
insert into refresh_tokens (token_hash, session_id, created_at, spent_at)
select sha256((s.id::text || t || current_setting('scale.seed'))::bytea), s.id, s.created_at - t * interval '1 day',
  case when t > 0 then s.created_at - (t - 1) * interval '1 day' end
from sessions s, generate_series(0, 39) t;
insert into sign_in_locations (account_id, location, seen_at) select account, 'firefox 192.0.2', pg_temp.now_is() from w;
insert into git_providers (workspace_id, id, kind, base_url, label, login, token_sealed, status, checked_at, check_at,
  created_at, updated_at)
select id, provider, 'github', 'https://git.example', 'GitHub', 'person-' || n, '\x00', 'connected', at,
  pg_temp.never(), at, at from w;

--- servers
create temp table s as
select w.n as wn, (w.n - 1) * 3 + k as n, w.id as workspace, w.account,
  pg_temp.id_of('server', (w.n - 1) * 3 + k, w.at + k * interval '1 second') as id, w.at
from w, generate_series(1, 3) k;
insert into servers (workspace_id, id, name, host, port, username, private_key_sealed, public_key, host_key, status,
  provisioned_at, last_seen_at, check_at, security_state, security_score, security_checked_at, created_at, updated_at)
select workspace, id, 'server-' || n, 'server-' || n || '.scale.example', 22, 'slipway', '\x00', 'ssh-ed25519 AAAA',
  'SHA256:' || md5(id::text), 'ready', at, pg_temp.now_is(), pg_temp.never(), 'fair', 70, pg_temp.never(), at, at from s;

--- projects
create temp table p as
select w.n as wn, (w.n - 1) * 5 + k as n, w.id as workspace, w.provider, w.account,
  pg_temp.id_of('project', (w.n - 1) * 5 + k, w.at + k * interval '1 minute') as id,
  pg_temp.id_of('analysis', (w.n - 1) * 5 + k, w.at + k * interval '1 minute') as analysis,
  w.at + k * interval '1 minute' as at
from w, generate_series(1, 5) k;
insert into projects (workspace_id, id, name, slug, provider_id, repository_kind, repository_id, full_name, clone_url,
  branch, root_directory, status, analysis_status, analysis_id, created_at, updated_at)
select workspace, id, 'project-' || n, 'project-' || n, provider, 'github', n::text, 'org/project-' || n,
  'https://git.example/org/project-' || n || '.git', 'main', '', 'active', 'succeeded', analysis, at, at from p;
insert into project_hooks (workspace_id, project_id, id, secret_sealed, created_at, updated_at)
select workspace, id, gen_random_uuid(), '\x00', at, at from p;
insert into webhook_deliveries (workspace_id, project_id, id, delivery_id, via, event, branch, commit_sha, outcome,
  reason, message, received_at)
select workspace, id, pg_temp.id_of('webhook', n * 1000 + k, pg_temp.now_is() - k * interval '8 hours'), 'd-' || n || '-' || k,
  'webhook', 'push', 'main', md5(n || '-' || k), 'deployed', 'deployed', 'It is being deployed.',
  pg_temp.now_is() - k * interval '8 hours'
from p, generate_series(1, 20) k;

--- environments
-- One in a hundred is busy and has half of all deployments.
create temp table e as
select p.wn, (p.n - 1) * 2 + k as n, p.workspace, p.account, p.id as project, s.id as server,
  pg_temp.id_of('environment', (p.n - 1) * 2 + k, p.at + k * interval '1 second') as id, p.at,
  case when ((p.n - 1) * 2 + k) % 100 = 1 then current_setting('scale.busiest')::int else 50 end as deployments,
  case k when 1 then 'production' else 'staging' end as name
from p cross join generate_series(1, 2) k join s on s.n = (p.wn - 1) * 3 + ((p.n + k) % 3) + 1;
insert into environments (workspace_id, id, project_id, name, slug, branch, server_id, auto_deploy, settings, poll_at,
  status, look_at, created_at, updated_at)
select workspace, id, project, name, 'environment-' || n, 'main', server, true, '{"port": 8080}', pg_temp.never(),
  'running', pg_temp.never(), at, at from e;
insert into environment_places (workspace_id, environment_id, server_id, port, network, created_at)
select workspace, id, server, 21000 + (n % 10)::int, (n % 10)::int, at from e;
insert into variables (workspace_id, id, environment_id, key, value_sealed, is_secret, target, updated_at)
select workspace, pg_temp.id_of('variable', n * 100 + k, at), id, 'KEY_' || k, '\x00', true, 'both', at
from e, generate_series(1, 12) k;
insert into services (workspace_id, id, environment_id, kind, name, version, data_version, slot, server_id, status,
  created_at, updated_at)
select workspace, pg_temp.id_of('service', n, at), id, 'postgres', 'main-db', '17', '17', 2, server, 'running', at, at
from e where n % 2 = 1;

--- domains
insert into domains (workspace_id, id, hostname, status, token, verified_at, check_at, created_at, updated_at)
select workspace, pg_temp.id_of('domain', n, at), 'app-' || n || '.scale.example', 'verified', md5(id::text), at,
  pg_temp.never(), at, at from e where n % 2 = 1;
insert into certificates (workspace_id, id, source, names, status, issuer, not_before, not_after, created_at, updated_at)
select workspace, pg_temp.id_of('certificate', n, at), 'acme', array['app-' || n || '.scale.example'], 'issued', 'R11',
  at, pg_temp.never(), at, at from e where n % 2 = 1;
insert into environment_domains (workspace_id, id, environment_id, domain_id, hostname, ssl_mode, certificate_id,
  redirect_http, www, created_at, updated_at)
select workspace, pg_temp.id_of('name', n, at), id, pg_temp.id_of('domain', n, at), 'app-' || n || '.scale.example',
  'auto', pg_temp.id_of('certificate', n, at), true, 'none', at, at from e where n % 2 = 1;

--- deployments
-- In the order of time, as they come: a page of one environment is spread over the table, as it is in real life.
create temp table d as
select *, pg_temp.id_of('deployment', n, at) as id, pg_temp.id_of('operation', n, at) as operation,
  case when ended = 'succeeded' then pg_temp.id_of('release', n, at) end as release
from (
  select row_number() over (order by at, e.n) as n, e.workspace, e.account, e.project, e.id as environment, e.server,
    number, times.at, times.at < pg_temp.now_is() - interval '14 days' as is_old,
    case when number = e.deployments then 'succeeded' else coalesce(
      (array['failed', 'failed', 'failed', 'cancelled', 'superseded'])[1 + pg_temp.pick('status', e.n * 10000 + number, 33)],
      'succeeded') end as ended
  from (select n, workspace, account, project, id, server, deployments from e) e, generate_series(1, e.deployments) number,
    lateral (select pg_temp.now_is() - (e.deployments - number + 1) * interval '200 days' / e.deployments
      - e.n % 60 * interval '1 second' as at) times
) each order by n;
analyze d;
create temp table steps as select place - 1 as place, name
from unnest(array['fetch', 'plan', 'send', 'build', 'keep', 'services', 'release', 'start', 'health', 'processes',
  'prove', 'switch', 'drain', 'retire', 'point', 'tidy']) with ordinality as each (name, place);
insert into releases (workspace_id, id, environment_id, image, image_digest, build_key, commit, run, variables_sealed,
  created_at)
select workspace, release, environment, 'slipway/' || environment || ':' || number, 'sha256:' || md5(release::text),
  md5(number::text), jsonb_build_object('sha', md5(n::text) || '00000000', 'message', 'Change number ' || n,
    'author', 'Ada Lovelace', 'branch', 'main'),
  '{"port": 8080, "health": {"path": "/healthz", "port": null, "timeoutSeconds": 5, "startSeconds": 60},
    "startCommand": null, "releaseCommand": null, "processes": [], "replicas": 1, "memoryMb": 512, "cpus": null,
    "volumes": [], "drainSeconds": 30, "stopSeconds": 10, "holdSeconds": 30, "isRoot": false, "plainKeys": [],
    "askedOfServices": []}', decode(repeat(md5(n::text), 12), 'hex'), at
from d where ended = 'succeeded' order by d.n;
insert into deployments (workspace_id, id, environment_id, number, trigger, wanted, commit, status, steps, operation_id,
  server_id, release_id, image_digest, plan, fault, requested_by, queued_at, started_at, finished_at)
select workspace, id, environment, number, case n % 3 when 0 then 'manual' else 'push' end, '{"branch": "main"}',
  jsonb_build_object('sha', md5(n::text) || '00000000', 'message', 'Change number ' || n, 'author', 'Ada Lovelace',
    'branch', 'main'),
  ended,
  -- With the same times for all: to write others into each would take longer than all the rest.
  case when ended in ('succeeded', 'failed') then (select jsonb_agg(jsonb_build_object('name', name, 'status', 'done',
    'startedAt', pg_temp.now_is(), 'finishedAt', pg_temp.now_is()) order by place) from steps) else '[]' end,
  operation, server, release, case when release is not null then 'sha256:' || md5(release::text) end,
  jsonb_build_object('app', '.', 'port', 8080, 'dockerfile',
    E'FROM node:24-slim AS build\nWORKDIR /app\nCOPY . .\nRUN npm ci && npm run build\nUSER node\nCMD ["node", "server.js"]\n'),
  case when ended = 'failed' then '{"code": "build_failed", "step": "build", "message": "The build failed.",
    "hint": null, "evidence": "npm error code 1"}'::jsonb end,
  account, at, at, at + interval '20 seconds'
from d order by d.n;
update environments x set current_deployment = d.id, current_release = d.release
from d join e on e.id = d.environment and e.deployments = d.number where x.workspace_id = e.workspace and x.id = e.id;

--- operations
insert into operations (workspace_id, id, kind, subject_type, subject_id, server_id, input, state, result, fault,
  requested_by, lease_epoch, wake_at, created_at, started_at, finished_at, queue_key)
select workspace, operation, 'deployment', 'deployment', id, server,
  jsonb_build_object('deploymentId', id, 'environmentId', environment),
  case ended when 'superseded' then 'cancelled' else ended end, case when ended = 'succeeded' then '{}'::jsonb end,
  case when ended = 'failed' then '{"code": "build_failed", "step": "build", "message": "The build failed.",
    "hint": null, "evidence": "npm error code 1"}'::jsonb end,
  account, 1, at, at, at, at + interval '20 seconds', environment
from d order by d.n;
insert into operation_steps (workspace_id, operation_id, name, place, status, attempt, output, started_at, finished_at)
select workspace, operation, name, place - 1, 'done', 1, '{}', at + (place - 1) * interval '1 second',
  at + place * interval '1 second'
from d, unnest(case ended when 'succeeded' then (select array_agg(name order by place) from steps)
  when 'failed' then array['fetch', 'plan', 'send', 'build'] end) with ordinality as each (name, place);

--- events
-- Ten lines of log for each deployment, and what the streams tell beside. Each series hangs on its row, so that what
-- lies in order needs no sorting.
insert into event_feeds (workspace_id, id, position) select workspace, id, 12 from d order by d.n;
insert into event_feeds (workspace_id, id, position) select workspace, operation, 2 from d order by d.n;
insert into event_feeds (workspace_id, id, position) select workspace, workspace, count(*) from d group by workspace;
insert into event_feeds (workspace_id, id, position) select workspace, analysis, 2 from p;
insert into events (workspace_id, feed_id, position, kind, data, at)
select workspace, id, k, case k when 1 then 'status' when 12 then 'end' else 'log' end,
  case when k in (1, 12) then jsonb_build_object('status', case k when 1 then 'queued' else ended end)
    else jsonb_build_object('step', 'build', 'line', '#' || k || ' [build ' || k || '/12] RUN npm run build -- --part ' ||
      md5((n * 12 + k)::text)) end,
  at + k * interval '1 second'
from d, generate_series(1, 12 + 0 * d.number) k;
insert into events (workspace_id, feed_id, position, kind, data, at)
select workspace, operation, k, case k when 1 then 'status' else 'end' end, '{"status": "succeeded"}',
  at + k * interval '10 seconds' from d, generate_series(1, 2 + 0 * d.number) k;
insert into events (workspace_id, feed_id, position, kind, data, at)
select workspace, workspace, row_number() over (partition by workspace order by at, n), 'operation_updated',
  jsonb_build_object('operationId', operation, 'operationKind', 'deployment', 'status', 'succeeded'), at from d;
insert into events (workspace_id, feed_id, position, kind, data, at)
select workspace, analysis, k, case k when 1 then 'status' else 'end' end, '{"status": "succeeded"}', at
from p, generate_series(1, 2) k;

--- notifications
create temp table c as
select w.n * 2 + k as n, w.id as workspace, pg_temp.id_of('connector', w.n * 2 + k, w.at) as id, w.at
from w, generate_series(0, 1) k;
insert into notification_connectors (workspace_id, id, type, name, events, all_projects, config_sealed, target, enabled,
  created_at, updated_at)
select workspace, id, 'webhook', 'connector-' || n, array['deployment_failed', 'deployment_succeeded'], true, '\x00',
  'hooks.scale.example', true, at, at from c;
insert into notices (workspace_id, id, kind, key, subject_type, subject_id, project_id, environment_id, data, at,
  dispatched_at)
select workspace, pg_temp.id_of('notice', n, at), 'deployment_' || ended, 'deployment_' || ended || ':' || id, 'deployment', id,
  project, environment, jsonb_build_object('number', number), at, at
from d where not is_old and ended in ('succeeded', 'failed') order by d.n;
insert into notification_deliveries (workspace_id, id, connector_id, notice_id, event, message_id, status, attempts,
  answer_status, latency_ms, created_at, attempted_at, finished_at)
select n.workspace_id, pg_temp.id_of('delivery', ('x' || substr(md5(n.id::text || c.id), 1, 12))::bit(48)::bigint, n.at), c.id,
  n.id, n.kind, gen_random_uuid(), 'delivered', 1, 200, 40, n.at, n.at, n.at
from notices n join c on c.workspace = n.workspace_id;

--- backups
insert into backup_configs (workspace_id, environment_id, enabled, cron, timezone, keep_last, keep_days, verify, updated_at)
select workspace, id, true, '0 3 * * *', 'UTC', 7, 14, true, at from e where n % 2 = 1;
create temp table b as
select e.n * 100 + k as n, e.workspace, e.id as environment, e.name, e.server, pg_temp.id_of('service', e.n, e.at) as service,
  pg_temp.id_of('backup', e.n * 100 + k, pg_temp.now_is() - k * interval '1 day') as id,
  pg_temp.id_of('backup operation', e.n * 100 + k, pg_temp.now_is() - k * interval '1 day') as operation,
  pg_temp.now_is() - k * interval '1 day' as at
from e, generate_series(1, 14) k where e.n % 2 = 1;
insert into operations (workspace_id, id, kind, subject_type, subject_id, server_id, input, state, result, wake_at,
  created_at, started_at, finished_at)
select workspace, operation, 'backup', 'backup', id, server,
  jsonb_build_object('backupId', id, 'environmentId', environment), 'succeeded', '{}', at, at, at, at from b;
insert into operation_steps (workspace_id, operation_id, name, place, status, attempt, output, started_at, finished_at)
select workspace, operation, 'step-' || k, k, 'done', 1, '{}', at, at from b, generate_series(0, 5) k;
insert into backups (workspace_id, id, environment_id, environment_name, trigger, status, verify, operation_id,
  size_bytes, sha256, verified_at, created_at, finished_at)
select workspace, id, environment, name, 'schedule', 'succeeded', true, operation, 1048576, md5(id::text), at, at, at from b;
insert into backup_parts (workspace_id, id, backup_id, position, source_type, service_id, name, kind, version, format,
  object_name, size_bytes, dump_bytes, raw_bytes, sha256, verification, stored_at)
select workspace, pg_temp.id_of('part', n, at), id, 0, 'service', service, 'main-db', 'postgres', '17', 'pg_dump custom',
  id || '/0', 1048576, 1048576, 4194304, md5(id::text), '{"status": "verified", "reason": null, "at": null}', at from b;

--- answers
insert into idempotency_keys (workspace_id, key, fingerprint, claim, claimed_at, status, body, answered_at)
select id, 'key-' || k, '\x00', gen_random_uuid(), pg_temp.now_is() - k * interval '30 minutes', 202, '{}',
  pg_temp.now_is() - k * interval '30 minutes' from w, generate_series(1, 60) k;
