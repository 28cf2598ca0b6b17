import assert from 'node:assert/strict';
import http from 'node:http';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { dismiss, drained } from '../../src/adapters/proxy/drain.ts';
import { admit, removeFront, switchTo } from '../../src/adapters/proxy/front-changes.ts';
import { ensureProxy, proxyContainer } from '../../src/adapters/proxy/proxy.ts';
import { readFronts } from '../../src/adapters/proxy/read-fronts.ts';
import { openLab } from '../support/lab.ts';
import { openSocket, ProxyGround, seenBy, Visitors, visit } from '../support/proxy.ts';
import { hangMs, until } from '../support/until.ts';

const lab = await openLab();

test('twenty releases one after the other, and reloads for other fronts meanwhile, lose no request and no WebSocket', async (t) => {
  const ground = await ProxyGround.open(t, await lab.fresh(t, 'docker'));
  const { work } = ground;
  const [front, other] = [ground.front(), ground.front()];
  let live = await ground.startApp();
  const beside = await ground.startApp();
  for (const [each, server] of [
    [front, live],
    [other, beside],
  ] as const) {
    await admit(work, each, [server]);
    await ground.answersThrough(each, server);
    await switchTo(work, { ...each, servers: [server] });
  }
  const sockets = [await openSocket(ground.url(other)), await openSocket(ground.url(other))];
  const visitors = [new Visitors(t, ground.url(front)), new Visitors(t, ground.url(other), 4)];
  const expected = new Set([live.name]);
  for (let release = 1; release <= 20; release += 1) {
    const next = await ground.startApp();
    const now = { ...front, servers: [live] };
    await admit(work, now, [next]);
    // A third front comes: a reload, which forgets what is in no file.
    const third = release % 5 === 0 ? ground.front() : undefined;
    if (third) await admit(work, third, []);
    await ground.answersThrough(now, next);
    await switchTo(work, { ...front, servers: [next] });
    assert.deepEqual([...(await drained(work, front.id, [live.name], { forMs: hangMs }))], []);
    await dismiss(work, front.id, [live.name]);
    await ground.stopApp(live);
    if (third) await removeFront(work, third.id);
    live = next;
    expected.add(live.name);
    assert.deepEqual(
      visitors.flatMap(({ failures }) => failures),
      [],
      `release ${release}`,
    );
  }
  assert.equal(seenBy(await visit(ground.url(front))).name, live.name);
  await Promise.all(visitors.map((each) => each.end()));
  assert.deepEqual(
    visitors.flatMap(({ failures }) => failures),
    [],
  );
  assert.deepEqual(visitors[0]?.names, expected);
  t.diagnostic(`${visitors.map(({ answered }) => answered).join(' and ')} requests answered, none failed`);
  for (const socket of sockets) {
    assert.equal(await socket.echoes(), true);
    socket.close();
  }
  const { fronts } = await readFronts(work);
  assert.deepEqual(
    fronts.map(({ id, agrees, running }) => [id, agrees, running?.servers.map(({ name }) => name)]),
    [
      [front.id, true, [live.name]],
      [other.id, true, [beside.name]],
    ].sort(([a], [b]) => String(a).localeCompare(String(b))),
  );
});

test('a request and a WebSocket under way are counted, in a worker from before a reload too, and new ones reach the new release even there', async (t) => {
  const ground = await ProxyGround.open(t, await lab.fresh(t, 'docker'));
  const { work } = ground;
  const front = ground.front();
  const [old, next] = [await ground.startApp(), await ground.startApp()];
  await admit(work, front, [old, next]);
  await ground.answersThrough(front, old);
  await ground.answersThrough(front, next);
  await switchTo(work, { ...front, servers: [old] });
  const socket = await openSocket(ground.url(front));
  // Connections that stay open, idle, over the reload and the switch.
  const agents = Array.from({ length: 8 }, () => new http.Agent({ keepAlive: true, maxSockets: 1 }));
  t.after(() => agents.forEach((agent) => void agent.destroy()));
  const idle = () => Promise.all(agents.map((agent) => visit(ground.url(front), { agent })));
  assert.deepEqual(new Set((await idle()).map((each) => seenBy(each).name)), new Set([old.name]));
  const held = heldRequest(ground.url(front));
  const underWay = async () => (await drained(work, front.id, [old.name], { forMs: 0 })).get(old.name);
  await until(async () => (await underWay()) === 2, 'both to be counted');
  await admit(work, ground.front(), []);
  assert.equal((await readFronts(work)).oldWorkers, 1);
  await switchTo(work, { ...front, servers: [next] });
  assert.equal(seenBy(await visit(ground.url(front))).name, next.name);
  assert.equal(await underWay(), 2);
  assert.equal((await held.end()).name, old.name);
  await until(async () => (await underWay()) === 1, 'only the socket to be left');
  assert.equal(await socket.echoes(), true);
  await dismiss(work, front.id, [old.name]);
  await ground.stopApp(old);
  assert.equal(await socket.echoes(), false);
  assert.equal(await underWay(), undefined);
  const late = (await idle()).map(seenBy);
  assert.deepEqual(new Set(late.map(({ name }) => name)), new Set([next.name]));
  assert.deepEqual(
    new Set(late.map(({ headers }) => headers['x-forwarded-for'])),
    new Set([lab.about.address]),
  );
  await dismiss(work, front.id, [old.name]);
  await assert.rejects(dismiss(work, front.id, [next.name]), { code: 'proxy_failed' });
});

/** Under way for as long as it takes: its body does not end before it is told to. */
function heldRequest(url: string) {
  const request = http.request(url, { method: 'POST', agent: false });
  const answered = new Promise<http.IncomingMessage>((resolve, reject) => {
    request.once('response', resolve).once('error', reject);
  });
  answered.catch(() => undefined);
  request.write('a beginning');
  return {
    end: async () => {
      request.end();
      const response = await answered;
      return seenBy({
        status: response.statusCode ?? 0,
        headers: response.headers,
        text: await text(response),
      });
    },
  };
}

test('a proxy that an earlier version started is told to come back after a crash of Docker, and is not started again for it', async (t) => {
  const ground = await ProxyGround.open(t, await lab.fresh(t, 'docker'));
  const { remote, signal } = ground.work;
  const look = () =>
    ground.sh(
      `docker inspect --format '{{.HostConfig.RestartPolicy.Name}} {{.State.StartedAt}}' ${proxyContainer}`,
    );
  const before = await look();
  assert.match(before, /^always /);
  await ground.sh(`docker update --restart unless-stopped ${proxyContainer}`);
  assert.match(await look(), /^unless-stopped /);
  assert.equal(await ensureProxy(remote, signal), false);
  assert.equal(await look(), before);
});
