import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../src/store/sql.ts';
import { countWork } from '../support/count-work.ts';
import { type Body, type DeployScene, sample, startDeployScene, succeeded } from '../support/deployments.ts';
import { openLab } from '../support/lab.ts';
import { openStream, type ReadEvent } from '../support/sse.ts';
import { until } from '../support/until.ts';

const lab = await openLab();
/** Nobody visits these apps while they are replaced. */
const quick = { drainSeconds: 1, stopSeconds: 2 };

async function follow(scene: DeployScene, environmentId: string, id: string): Promise<ReadEvent[]> {
  const path = `/api/v1/environments/${environmentId}/deployments/${id}/status`;
  const stream = await openStream(`${scene.git.service.url}${path}`, { token: scene.token });
  assert.equal(stream.status, 200, stream.body);
  return Array.fromAsync(stream.events());
}

/** One message there and back over a socket that the proxy upgraded. */
function echoed(url: string, text: string): Promise<string> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'));
  return new Promise((resolve, reject) => {
    socket.onerror = () => reject(new Error(`no WebSocket at ${url}`));
    socket.onopen = () => socket.send(text);
    socket.onmessage = ({ data }) => {
      socket.close();
      resolve(String(data));
    };
  });
}

async function postNote(url: string, text: string): Promise<void> {
  const answer = await fetch(`${url}/notes`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text }),
  });
  assert.equal(answer.status, 201, await answer.text());
}

function stepsOf(deployment: Body): string[] {
  const steps: { name: string; status: string }[] = Object(deployment.steps);
  return Array.from(steps, ({ name, status }) => `${name} ${status}`);
}

/** Of one deployment, from the wish to the end of its operation. Who waits asks the database itself, and does not count. */
async function costOf(scene: DeployScene, environmentId: string) {
  const { store, contexts } = scene.git.service.app;
  // Looks at what stands there already are no part of it, and a busy machine has time for more of them.
  await store.db.run(sql`update environments set look_at = now() + interval '1 day'`);
  await store.db.run(sql`update servers set check_at = now() + interval '1 day'`);
  const { counted, end } = countWork(contexts.servers.pool);
  let looks = 0;
  try {
    const { operationId } = await scene.call('POST', `/environments/${environmentId}/deployments`, {});
    const state = await until(async () => {
      looks += 1;
      const row = await store.db.one<{ state: string }>(sql`
        select state from operations where id = ${String(operationId)} and finished_at is not null`);
      return row?.state;
    }, 'the end of a deployment');
    assert.equal(state, 'succeeded');
    return { ...counted, statements: counted.statements - looks };
  } finally {
    end();
  }
}

/** Of two: what the service does by itself now and then may come into one of them, and only ever adds to it. */
async function leastOf(cost: (turn: number) => ReturnType<typeof costOf>): ReturnType<typeof costOf> {
  const [first, second] = [await cost(1), await cost(2)];
  return {
    trips: first.trips.length < second.trips.length ? first.trips : second.trips,
    gitProcesses: Math.min(first.gitProcesses, second.gitProcesses),
    statements: Math.min(first.statements, second.statements),
  };
}

// The others are in test/long/deploy-samples.test.ts and test/long/generated-images.test.ts.
test('from nothing, through the API alone, samples are deployed and opened', async (t) => {
  const scene = await startDeployScene(t, lab);

  await t.test('static-page: followed live to its end, files as they are', async () => {
    const { environmentId } = await scene.deployed({ files: sample('static-page'), deploy: false });
    const { id } = await scene.call('POST', `/environments/${environmentId}/deployments`, {});
    const events = await follow(scene, environmentId, String(id));
    const statuses = events.filter(({ event }) => event === 'status').map(({ data }) => data.status);
    const inOrder = ['queued', 'preparing', 'building', 'starting', 'switching', 'succeeded'];
    assert.deepEqual([...new Set(statuses)], inOrder);
    assert.equal(events.at(-1)?.event, 'end');
    assert.ok(events.some(({ event, data }) => event === 'log' && data.step === 'build'));
    const positions = events.map((each) => each.id);
    assert.deepEqual(
      positions,
      positions.toSorted((one, other) => one - other),
    );
    const deployment = await scene.ended(environmentId, String(id));
    succeeded(deployment);
    assert.ok(
      stepsOf(deployment).every((step) => step.endsWith(' done')),
      stepsOf(deployment).join(),
    );
    assert.match(await scene.page(environmentId), /<html/);
    const away = await fetch(`${await scene.url(environmentId)}/nowhere`);
    assert.equal(away.status, 404);
    assert.match(await away.text(), /<html/);
    const environment = await scene.call('GET', `/environments/${environmentId}`);
    assert.deepEqual([environment.status, environment.currentDeploymentId], ['running', id]);
  });

  await t.test('express-postgres: its database, its migrations, and notes that survive', async () => {
    const settings = { ...quick, releaseCommand: 'npm run migrate', startCommand: 'node server.js' };
    const made = await scene.deployed({ files: sample('express-postgres'), settings });
    const { environmentId, deployment } = made;
    succeeded(deployment);
    const lines = await scene.lines(environmentId, deployment.id);
    assert.ok(lines.some((line) => line.startsWith('Release command: ')));
    const { services } = await scene.call('GET', `/environments/${environmentId}`);
    assert.deepEqual(
      Array.from(Object(services), ({ kind }: Body) => kind),
      ['postgres'],
    );
    const url = await scene.url(environmentId);
    await postNote(url, 'kept');
    const second = await scene.deploy(environmentId);
    succeeded(second);
    assert.match(await scene.page(environmentId, '/notes'), /"text":"kept"/);
    assert.match(await scene.page(environmentId, '/healthz'), /ok/);
  });

  await t.test('websocket-echo: a message there and back through the proxy', async () => {
    const { environmentId, deployment } = await scene.deployed({ files: sample('websocket-echo') });
    succeeded(deployment);
    assert.equal(await echoed(`${await scene.url(environmentId)}/echo`, 'héllo'), 'héllo');
  });

  await t.test(
    'dockerfile-app: its own Dockerfile, and not as root; then again, at a small cost',
    async () => {
      const made = await scene.deployed({ files: sample('dockerfile-app'), settings: quick });
      const { environmentId, deployment, repository } = made;
      succeeded(deployment);
      const build = Object(Object(deployment.plan).build);
      assert.deepEqual([build.kind, build.path], ['dockerfile', 'Dockerfile']);
      const { app, uid } = JSON.parse(await scene.page(environmentId));
      assert.equal(app, 'dockerfile-app');
      assert.notEqual(uid, 0);

      // What these were when it was written; more of them is slower, for everyone.
      const warm = await leastOf(async (turn) => {
        const files = { 'README.md': `changed ${turn}\n` };
        const change = { branch: 'main', message: 'Change a file', files };
        await scene.git.host.commit('ada', repository.slice('ada/'.length), change);
        return costOf(scene, environmentId);
      });
      assert.ok(warm.trips.length <= 9, `round trips: ${warm.trips}`);
      assert.ok(warm.gitProcesses <= 8, `${warm.gitProcesses} processes of git`);
      assert.ok(warm.statements <= 250, `${warm.statements} statements`);
      const again = await leastOf(() => costOf(scene, environmentId));
      assert.ok(again.trips.length <= 7, `round trips for the same commit: ${again.trips}`);
      assert.ok(again.statements <= 220, `${again.statements} statements for the same commit`);
    },
  );
});
