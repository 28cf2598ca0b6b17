/** Connectors in tests: a workspace, receivers inside of the test, and notices raised as areas raise them. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type LabCatcher, startCatcher } from '../../lab/services/catcher/catcher.ts';
import { type LabReceivers, startReceivers } from '../../lab/services/receivers.ts';
import { type NewNotice, type NoticeKind, raiseNotice } from '../../src/events/notices.ts';
import { newId, type ServerId, type WorkspaceId } from '../../src/ids.ts';
import { sql } from '../../src/store/sql.ts';
import { type Answer, startTestApp, type TestApp } from './app.ts';
import { newPerson, type Person } from './people.ts';
import { sharedTestApp } from './shared-app.ts';
import { until } from './until.ts';

export interface Delivery {
  readonly id: string;
  readonly event: string;
  readonly status: string;
  readonly attempts: number;
  readonly answerStatus: number | null;
  readonly messageId: string | null;
  readonly detail: string | null;
}

export interface NotificationScene {
  readonly service: TestApp;
  readonly person: Person;
  readonly workspaceId: WorkspaceId;
  readonly catcher: LabCatcher;
  readonly receivers: LabReceivers;
  ask(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Its id. */
  connector(type: string, config: object, more?: object): Promise<string>;
  raise(more?: Partial<NewNotice>): Promise<void>;
  /** The oldest first. */
  deliveries(connectorId: string): Promise<Delivery[]>;
  /** Until the deliveries have these statuses, in their order. */
  settled(connectorId: string, ...statuses: string[]): Promise<Delivery[]>;
  /** Moves the clock and lets the worker look. */
  later(ms: number): void;
}

export interface Raised {
  readonly kind: NoticeKind;
  readonly projectId: string | null;
  readonly data: Record<string, unknown>;
}

/** What was raised in a service, or in one workspace of it, the oldest first. */
export function noticesIn({ app }: Pick<TestApp, 'app'>, workspaceId?: WorkspaceId): Promise<Raised[]> {
  return app.store.db.rows<Raised>(sql`
    select kind, project_id as "projectId", data from notices
    where workspace_id = coalesce(${workspaceId ?? null}::uuid, workspace_id) order by at, id`);
}

/** `isOwn`: on an instance for this test alone. */
export async function startNotificationScene(t: TestContext, isOwn = false): Promise<NotificationScene> {
  const catcher = await startCatcher({ address: '127.0.0.1', port: 0 });
  t.after(() => catcher.close());
  const receivers = await startReceivers({ address: '127.0.0.1', port: 0, tlsPort: 0 });
  t.after(() => receivers.close());
  const env = { SLIPWAY_ALLOW_PRIVATE_EGRESS: 'true' };
  const service = isOwn ? await startTestApp(t, { env }) : await sharedTestApp(env);
  const person = await newPerson(service);
  let { token } = person;
  const ask: NotificationScene['ask'] = async (method, path, body) => {
    const call = () => service.call(method, path, { token, ...(body !== undefined && { body }) });
    const answer = await call();
    if (answer.status !== 401) return answer;
    // The clock was moved beyond the life of the token.
    const { email, password } = person;
    token = String(
      (await service.call('POST', '/auth/login', { body: { email, password } })).body.accessToken,
    );
    return call();
  };
  const me = await ask('GET', '/auth/me');
  const workspaceId = Object(me.body.workspaces)[0].id as WorkspaceId;
  const { db } = service.app.store;
  // What waits would be tried again whenever a test after this one moves the clock of the shared instance.
  const removal = sql`delete from notification_connectors where workspace_id = ${workspaceId}`;
  if (!isOwn) t.after(async () => void (await db.run(removal)));
  const deliveries: NotificationScene['deliveries'] = async (id) => {
    const { body } = await ask('GET', `/notification-connectors/${id}/deliveries?limit=100`);
    return Object(body.items).toReversed();
  };
  return {
    service,
    person,
    workspaceId,
    catcher,
    receivers,
    ask,
    deliveries,
    connector: async (type, config, more = {}) => {
      const made = await ask('POST', '/notification-connectors', {
        type,
        name: `My ${type}`,
        config,
        ...more,
      });
      assert.equal(made.status, 201, made.text);
      return String(made.body.id);
    },
    raise: async (more = {}) => {
      const id = newId<ServerId>();
      const notice = {
        workspaceId,
        kind: 'server_unreachable',
        key: id,
        subject: { type: 'server', id },
      } as const;
      const data = { serverName: 'web-1', host: '192.0.2.7', fault: { message: 'It does not answer.' } };
      await db.transaction((tx) => raiseNotice(tx, { ...notice, data, ...more }));
    },
    settled: async (id, ...statuses) => {
      let seen: Delivery[] = [];
      await until(async () => {
        seen = await deliveries(id);
        return JSON.stringify(seen.map(({ status }) => status)) === JSON.stringify(statuses);
      }).catch((error) => {
        throw new Error(`${error}: ${JSON.stringify(seen)}`);
      });
      return seen;
    },
    later: (ms) => {
      service.clock.advance(ms);
      service.app.deliveries.wake();
    },
  };
}
