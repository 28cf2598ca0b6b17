/** Clusters in tests without servers behind them: as after a join, and as after a look that found one of them down. */
import assert from 'node:assert/strict';
import { judgeCluster } from '../../src/areas/clusters/judge-cluster.ts';
import * as queries from '../../src/areas/clusters/queries.ts';
import { recordJudgement } from '../../src/areas/clusters/record-judgement.ts';
import { managersWanted } from '../../src/engine/swarm/managers.ts';
import type { SwarmNode } from '../../src/engine/swarm/nodes.ts';
import { type ClusterId, newId, type ServerId, type WorkspaceId } from '../../src/ids.ts';
import { sql } from '../../src/store/sql.ts';
import type { Answer, TestApp } from './app.ts';
import { newPerson, type Person } from './people.ts';
import { sharedTestApp } from './shared-app.ts';

export class ClusterScene {
  readonly service: TestApp;
  readonly person: Person;

  constructor(service: TestApp, person: Person) {
    this.service = service;
    this.person = person;
  }

  get #db() {
    return this.service.app.store.db;
  }

  ask(method: string, path: string, body?: object): Promise<Answer> {
    return this.service.call(method, path, { token: this.person.token, ...(body && { body }) });
  }

  /** As after provisioning; nothing is behind it. */
  async server(name: string): Promise<ServerId> {
    const body = { name, host: '127.0.0.1', port: 1, auth: { type: 'generated' } };
    const made = await this.ask('POST', '/servers', body);
    assert.equal(made.status, 201, made.text);
    const id = String(made.body.id) as ServerId;
    await this.#db.run(sql`
      update servers set status = 'ready', provisioned_at = now(), host_key = ${`SHA256:${id}`} where id = ${id}`);
    return id;
  }

  /** As after a join: the first leads. */
  async cluster(name: string, serverIds: readonly ServerId[], status = 'ready'): Promise<ClusterId> {
    const id = newId<ClusterId>();
    const [first] = serverIds;
    assert.ok(first);
    const managers = serverIds.slice(0, managersWanted(serverIds.length));
    await this.#db.run(sql`
      insert into clusters (workspace_id, id, name, status, check_at, checked_at, created_at, updated_at)
      select workspace_id, ${id}, ${name}, ${status}, now() + interval '1 day', now(), now(), now()
      from servers where id = ${first}`);
    await this.#db.run(sql`
      insert into cluster_members (workspace_id, cluster_id, server_id, state, role, is_leader, node_id, address,
        created_at)
      select workspace_id, ${id}, id, 'ready',
        case when id = any(${managers}::uuid[]) then 'manager' else 'worker' end, id = ${first}, 'node of ' || name, '10.0.0.1', now()
      from servers where id = any(${serverIds}::uuid[])`);
    return id;
  }

  /** What a look stores that finds these servers down; null, where no manager with a majority answers. */
  async looksAt(id: ClusterId, down: readonly string[] | null, answering: readonly ServerId[] = []) {
    const workspaceId = await this.workspaceOf(id);
    const rows = await queries.listMembers(this.#db, workspaceId, [id]);
    const nodes = down && rows.map((row) => nodeOf(row, !down.includes(row.serverId)));
    const judgement = judgeCluster(rows, nodes, answering);
    await this.#db.transaction((tx) => recordJudgement(tx, { workspaceId, id }, rows, judgement, new Date()));
  }

  async workspaceOf(id: ClusterId): Promise<WorkspaceId> {
    const found = await this.#db.one<{ workspaceId: WorkspaceId }>(
      sql`select workspace_id as "workspaceId" from clusters where id = ${id}`,
    );
    return found?.workspaceId ?? assert.fail('no such cluster');
  }
}

function nodeOf({ nodeId, role, isLeader, availability }: queries.MemberRow, isUp: boolean): SwarmNode {
  return {
    id: nodeId ?? '',
    version: 1,
    labels: {},
    isManager: role === 'manager',
    isLeader,
    isCounted: role === 'manager',
    isReachable: isUp,
    isUp,
    isDown: !isUp,
    availability,
    changedAt: new Date(0),
  };
}

export async function startClusterScene(): Promise<ClusterScene> {
  const service = await sharedTestApp();
  return new ClusterScene(service, await newPerson(service));
}
