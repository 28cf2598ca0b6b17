import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { admit, dismiss, drained, readSites, removeSite, switchTo } from '../../src/adapters/proxy/sites.ts';
import { openLab } from '../support/lab.ts';
import { openSocket, ProxyGround, seenBy, Visitors, visit } from '../support/proxy.ts';

const lab = await openLab();

test('twenty releases one after the other, and reloads for other sites meanwhile, lose no request and no WebSocket', async (t) => {
  const ground = await ProxyGround.open(t, await lab.fresh(t, 'docker'));
  const { work } = ground;
  const [site, other] = [ground.site(), ground.site()];
  let live = await ground.startApp();
  const beside = await ground.startApp();
  for (const [each, server] of [
    [site, live],
    [other, beside],
  ] as const) {
    await admit(work, each, [server]);
    await ground.answersThrough(each, server);
    await switchTo(work, { ...each, servers: [server] });
  }
  const sockets = [await openSocket(ground.url(other)), await openSocket(ground.url(other))];
  const visitors = [new Visitors(t, ground.url(site)), new Visitors(t, ground.url(other), 4)];
  const expected = new Set([live.name]);
  for (let release = 1; release <= 20; release += 1) {
    const next = await ground.startApp();
    const now = { ...site, servers: [live] };
    await admit(work, now, [next]);
    // A third site comes: a reload, which forgets what is in no file.
    const third = release % 5 === 0 ? ground.site() : undefined;
    if (third) await admit(work, third, []);
    await ground.answersThrough(now, next);
    await switchTo(work, { ...site, servers: [next] });
    assert.deepEqual([...(await drained(work, site.id, [live.name], { forMs: 20_000 }))], []);
    await dismiss(work, site.id, [live.name]);
    await ground.stopApp(live);
    if (third) await removeSite(work, third.id);
    live = next;
    expected.add(live.name);
    assert.deepEqual(
      visitors.flatMap(({ failures }) => failures),
      [],
      `release ${release}`,
    );
  }
  const last = visitors[0]?.answered ?? 0;
  assert.equal(seenBy(await visit(ground.url(site))).name, live.name);
  await Promise.all(visitors.map((each) => each.end()));
  assert.deepEqual(
    visitors.flatMap(({ failures }) => failures),
    [],
  );
  assert.deepEqual(visitors[0]?.names, expected);
  assert.ok(last > 2_000, `${last} requests`);
  t.diagnostic(`${visitors.map(({ answered }) => answered).join(' and ')} requests answered, none failed`);
  for (const socket of sockets) {
    assert.equal(await socket.echoes(), true);
    socket.close();
  }
  const { sites } = await readSites(work);
  assert.deepEqual(
    sites.map(({ id, agrees, running }) => [id, agrees, running?.servers.map(({ name }) => name)]),
    [
      [site.id, true, [live.name]],
      [other.id, true, [beside.name]],
    ].sort(([a], [b]) => String(a).localeCompare(String(b))),
  );
});

test('a request and a WebSocket under way are counted, in a worker from before a reload too, and new ones reach the new release even there', async (t) => {
  const ground = await ProxyGround.open(t, await lab.fresh(t, 'docker'));
  const { work } = ground;
  const site = ground.site();
  const [old, next] = [await ground.startApp(), await ground.startApp()];
  await admit(work, site, [old, next]);
  await ground.answersThrough(site, old);
  await ground.answersThrough(site, next);
  await switchTo(work, { ...site, servers: [old] });
  const socket = await openSocket(ground.url(site));
  // Connections that stay open, idle, over the reload and the switch.
  const agents = Array.from({ length: 8 }, () => new http.Agent({ keepAlive: true, maxSockets: 1 }));
  t.after(() => agents.forEach((agent) => void agent.destroy()));
  const idle = () => Promise.all(agents.map((agent) => visit(ground.url(site), { agent })));
  assert.deepEqual(new Set((await idle()).map((each) => seenBy(each).name)), new Set([old.name]));
  const slow = visit(ground.url(site, '/slow'));
  while ((await drained(work, site.id, [old.name], { forMs: 0 })).get(old.name) !== 2);
  await admit(work, ground.site(), []);
  assert.equal((await readSites(work)).oldWorkers, 1);
  await switchTo(work, { ...site, servers: [next] });
  assert.equal(seenBy(await visit(ground.url(site))).name, next.name);
  assert.deepEqual([...(await drained(work, site.id, [old.name], { forMs: 0 }))], [[old.name, 2]]);
  assert.equal(seenBy(await slow).name, old.name);
  assert.deepEqual([...(await drained(work, site.id, [old.name], { forMs: 300 }))], [[old.name, 1]]);
  assert.equal(await socket.echoes(), true);
  await dismiss(work, site.id, [old.name]);
  await ground.stopApp(old);
  assert.equal(await socket.echoes(), false);
  assert.deepEqual([...(await drained(work, site.id, [old.name], { forMs: 0 }))], []);
  const late = (await idle()).map(seenBy);
  assert.deepEqual(new Set(late.map(({ name }) => name)), new Set([next.name]));
  assert.deepEqual(
    new Set(late.map(({ headers }) => headers['x-forwarded-for'])),
    new Set([lab.about.address]),
  );
  await dismiss(work, site.id, [old.name]);
  await assert.rejects(dismiss(work, site.id, [next.name]), { code: 'proxy_failed' });
});
