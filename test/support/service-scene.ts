/** An environment with its place on a lab's server, without the API: what the services of it need, and no more. */
import type { TestContext } from 'node:test';
import { ensurePlacement } from '../../src/areas/environments/placement/placements.ts';
import { changeServices, type ServicesInput } from '../../src/areas/services/change-services.ts';
import { serviceVariables } from '../../src/areas/services/service-variables.ts';
import type { ServiceRequestsContext } from '../../src/areas/services/services.ts';
import type { Target } from '../../src/engine/engine.ts';
import { singleServer } from '../../src/engine/single-server/single-server.ts';
import {
  type EnvironmentId,
  newId,
  type OperationId,
  type ProjectId,
  type ServerId,
  type WorkspaceId,
} from '../../src/ids.ts';
import type { Remote } from '../../src/remote/remote.ts';
import type { Database } from '../../src/store/database.ts';
import { sql } from '../../src/store/sql.ts';
import { masterKeys, migratedDatabase, newWorkspace } from './database.ts';
import { labCapacity, type TestServer } from './lab.ts';
import { connect, pinOf } from './remote.ts';
import { addServer, serversContext } from './servers-context.ts';

export interface ServiceScene {
  readonly ctx: ServiceRequestsContext;
  readonly environmentId: EnvironmentId;
  readonly target: Target;
  /** Round trips to the server since the last time that it was asked. */
  roundTrips(): number;
  want(wish: ServicesInput): Promise<Awaited<ReturnType<typeof changeServices>>['body']>;
  /** What the application would get. */
  variables(asked?: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

export async function serviceScene(t: TestContext, server: TestServer): Promise<ServiceScene> {
  const own = await migratedDatabase(t);
  const { db } = own;
  const servers = await serversContext(t, own, masterKeys(1));
  const { sealer, clock, queue } = servers;
  const ctx = { db, sealer, clock, queue, servers };
  await queue.start(() => undefined);
  const workspaceId = await newWorkspace(db);
  const { id: serverId } = await addServer(servers, workspaceId, {
    host: server.about.address,
    hostKey: pinOf(server),
  });
  const environmentId = await addEnvironment(db, workspaceId, serverId);
  const now = clock.now();
  const place = await db.transaction((tx) => ensurePlacement(tx, workspaceId, environmentId, serverId, now));
  const { remote, taken } = counted(connect(t, server));
  const fence = { scope: newId<OperationId>(), epoch: 1 };
  const target = singleServer({ placement: place, remote, capacity: labCapacity, fence, signal: t.signal });
  return {
    ctx,
    environmentId,
    target,
    roundTrips: taken,
    want: async (wish) =>
      (await changeServices(ctx, workspaceId, null, environmentId, wish, async (_tx, answer) => answer)).body,
    variables: async (asked) => {
      const found = await db.transaction((tx) =>
        serviceVariables(tx, sealer, workspaceId, environmentId, asked),
      );
      return new Map([...found].map(([key, value]) => [key, value.reveal()]));
    },
  };
}

/** Of a project of its own, linked to the server where there is one. */
export async function addEnvironment(
  db: Database,
  workspaceId: WorkspaceId,
  serverId: ServerId | null,
): Promise<EnvironmentId> {
  const [projectId, environmentId] = [newId<ProjectId>(), newId<EnvironmentId>()];
  const now = new Date();
  await db.run(sql`
    insert into projects (workspace_id, id, name, slug, repository_kind, full_name, clone_url, root_directory, status,
      analysis_status, created_at, updated_at)
    values (${workspaceId}, ${projectId}, 'Shop', ${projectId}, 'url', 'shop', 'https://example.com/shop', '.', 'active',
      'succeeded', ${now}, ${now})`);
  await db.run(sql`
    insert into environments (workspace_id, id, project_id, name, slug, branch, server_id, status, created_at, updated_at)
    values (${workspaceId}, ${environmentId}, ${projectId}, 'production', ${environmentId}, 'main', ${serverId}, 'idle', ${now},
      ${now})`);
  return environmentId;
}

function counted(remote: Remote): { remote: Remote; taken: () => number } {
  let count = 0;
  const counting = new Proxy(remote, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        count += 1;
        return Reflect.apply(member, target, args);
      };
    },
  });
  const taken = () => {
    const now = count;
    count = 0;
    return now;
  };
  return { remote: counting, taken };
}
