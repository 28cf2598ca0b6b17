/**
 * Fills a migrated, empty database with servers of five environments each, all deployed, as the service would have
 * stored them: with the host keys of the simulated servers, and with values that its key opens. None is due yet.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createRelease } from '../src/areas/releases/stored-releases.ts';
import { privateKeyContext } from '../src/areas/servers/servers.ts';
import type { EnvironmentId, ServerId, WorkspaceId } from '../src/ids.ts';
import { createLog } from '../src/log.ts';
import { generateKeyPair } from '../src/remote/keys/keys.ts';
import { Secret } from '../src/secret.ts';
import { connectDatabase, type Queryable } from '../src/store/database.ts';
import { MasterKeys } from '../src/store/master-keys.ts';
import { Sealer } from '../src/store/sealed.ts';
import { sql } from '../src/store/sql.ts';
import {
  addressOf,
  environmentNumber,
  environmentsEach,
  fleetId,
  readRecording,
  serversInWorkspace,
} from './fleet-answers.ts';
import { scaleKey } from './scale-calls.ts';

export interface Fleet {
  readonly servers: number;
  readonly port: number;
  readonly hostKeys: readonly string[];
}

const never = new Date('2100-01-01T00:00:00Z');
const variables = new Map(
  ['DATABASE_URL', 'SESSION_SECRET', 'API_TOKEN', 'MAIL_PASSWORD'].map((key) => [
    key,
    new Secret(`${key}-of-one-application`),
  ]),
);

const atOnce = 6;

/** One transaction a workspace. */
export async function fillFleet(url: string, fleet: Fleet): Promise<void> {
  const db = connectDatabase({ connectionString: url }, createLog('silent'));
  const masterKeys = new MasterKeys(new Secret(Buffer.from(scaleKey, 'base64')));
  const sealer = new Sealer(masterKeys);
  const now = new Date();
  try {
    await db.run(sql`insert into master_keys (id) values (${masterKeys.current.id}) on conflict do nothing`);
    const workspaces = Array.from({ length: Math.ceil(fleet.servers / serversInWorkspace) }).keys();
    const fillNext = async () => {
      for (const workspace of workspaces)
        await db.transaction(async (tx) => {
          const workspaceId = fleetId('workspace', workspace) as WorkspaceId;
          await insertWorkspace(tx, workspaceId, workspace, now);
          const first = workspace * serversInWorkspace;
          const last = Math.min(first + serversInWorkspace, fleet.servers);
          for (let server = first; server < last; server += 1)
            await insertServer(tx, sealer, workspaceId, server, fleet, now);
        });
    };
    await Promise.all(Array.from({ length: atOnce }, fillNext));
    // As autovacuum would have done it meanwhile.
    await db.raw('vacuum analyze');
  } finally {
    await db.close();
  }
}

async function insertWorkspace(tx: Queryable, id: WorkspaceId, number: number, now: Date): Promise<void> {
  const [account, session] = [fleetId('account', number), fleetId('session', number)];
  await tx.run(
    sql`insert into workspaces (id, name, created_at) values (${id}, ${`Workspace ${number}`}, ${now})`,
  );
  await tx.run(sql`
    insert into accounts (id, email, name, email_verified_at, created_at)
    values (${account}, ${`person-${number}@fleet.example`}, ${`Person ${number}`}, ${now}, ${now})`);
  await tx.run(sql`
    insert into memberships (workspace_id, account_id, role, created_at) values (${id}, ${account}, 'owner', ${now})`);
  await tx.run(sql`
    insert into sessions (id, account_id, user_agent, ip, created_at, last_used_at, expires_at)
    values (${session}, ${account}, 'Mozilla/5.0', '192.0.2.1', ${now}, ${now}, ${never})`);
}

async function insertServer(
  tx: Queryable,
  sealer: Sealer,
  workspaceId: WorkspaceId,
  server: number,
  { port, hostKeys }: Fleet,
  now: Date,
): Promise<void> {
  const id = fleetId('server', server) as ServerId;
  const { privateKey, publicKey } = generateKeyPair(`slipway-${id}`);
  const sealed = await sealer.seal(tx, privateKeyContext(workspaceId, id), privateKey);
  await tx.run(sql`
    insert into servers (workspace_id, id, name, host, port, username, private_key_sealed, public_key, host_key, status,
      provisioned_at, last_seen_at, check_at, security_state, security_score, security_checked_at, created_at, updated_at)
    values (${workspaceId}, ${id}, ${`server-${server}`}, ${addressOf(server)}, ${port}, 'root', ${sealed}, ${publicKey},
      ${hostKeys[server] ?? null}, 'ready', ${now}, ${now}, ${never}, 'fair', 70, ${never}, ${now}, ${now})`);
  const project = fleetId('project', server);
  await tx.run(sql`
    insert into projects (workspace_id, id, name, slug, repository_kind, full_name, clone_url, branch, root_directory,
      status, analysis_status, created_at, updated_at)
    values (${workspaceId}, ${project}, ${`project-${server}`}, ${`project-${server}`}, 'url', 'org/project',
      'https://git.example/org/project.git', 'main', '', 'active', 'succeeded', ${now}, ${now})`);
  for (let index = 0; index < environmentsEach; index += 1)
    await insertEnvironment(tx, sealer, { workspaceId, serverId: id, project, server, index, now });
}

interface NewEnvironment {
  readonly workspaceId: WorkspaceId;
  readonly serverId: ServerId;
  readonly project: string;
  readonly server: number;
  readonly index: number;
  readonly now: Date;
}

const { run } = readRecording();
const commit = { sha: '0'.repeat(40), message: 'Begin', author: 'Ada Lovelace', branch: 'main' };

async function insertEnvironment(tx: Queryable, sealer: Sealer, place: NewEnvironment): Promise<void> {
  const { workspaceId, serverId, project, server, index, now } = place;
  const number = environmentNumber(server, index);
  const id = fleetId('environment', number) as EnvironmentId;
  const deployment = fleetId('deployment', number);
  await tx.run(sql`
    insert into environments (workspace_id, id, project_id, name, slug, branch, server_id, settings, poll_at, status,
      look_at, created_at, updated_at)
    values (${workspaceId}, ${id}, ${project}, ${`environment-${index}`}, ${`environment-${number}`}, 'main', ${serverId},
      '{}', ${never}, 'running', ${never}, ${now}, ${now})`);
  await tx.run(sql`
    insert into environment_places (workspace_id, environment_id, server_id, port, network, created_at)
    values (${workspaceId}, ${id}, ${serverId}, ${21_000 + index}, ${index}, ${now})`);
  const built = { image: `slipway/${id}:1`, imageDigest: `sha256:${'0'.repeat(64)}`, buildKey: '0' };
  const release = { ...built, environmentId: id, commit, run, variables };
  const releaseId = await createRelease(tx, sealer, workspaceId, release, now);
  await tx.run(sql`
    insert into deployments (workspace_id, id, environment_id, number, trigger, wanted, commit, status, server_id,
      release_id, image_digest, queued_at, started_at, finished_at)
    values (${workspaceId}, ${deployment}, ${id}, 1, 'manual', '{"branch": "main"}', ${JSON.stringify(commit)}::jsonb,
      'succeeded', ${serverId}, ${releaseId}, ${built.imageDigest}, ${now}, ${now}, ${now})`);
  await tx.run(sql`
    update environments set current_deployment = ${deployment}, current_release = ${releaseId}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

/** Now: everything is late, as after a pause of the service. */
export async function setDue(url: string, when: 'now' | 'never'): Promise<void> {
  const db = connectDatabase({ connectionString: url }, createLog('silent'));
  const at = when === 'now' ? new Date() : never;
  try {
    await db.run(sql`update environments set look_at = ${at}`);
    await db.run(sql`update servers set check_at = ${at}`);
  } finally {
    await db.close();
  }
}

const longestWaitMs = 10 * 60_000;

/** Milliseconds until every environment was looked at: only what crashes after that is a crash that was seen. */
export async function untilAllSeen(url: string): Promise<number> {
  const db = connectDatabase({ connectionString: url }, createLog('silent'));
  const began = performance.now();
  try {
    while (await db.exists(sql`select 1 from environments where seen = '{}'`)) {
      if (performance.now() - began > longestWaitMs)
        throw new Error('not every environment was looked at in ten minutes');
      await sleep(1_000);
    }
    return performance.now() - began;
  } finally {
    await db.close();
  }
}
