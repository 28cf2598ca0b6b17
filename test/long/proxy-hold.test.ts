import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { dismiss, drained } from '../../src/adapters/proxy/drain.ts';
import { admit, hold, restoreFront, stopFront, switchTo } from '../../src/adapters/proxy/front-changes.ts';
import { backendOf, proxyFolder } from '../../src/adapters/proxy/places.ts';
import { readFronts } from '../../src/adapters/proxy/read-fronts.ts';
import { faultOf } from '../support/faults.ts';
import { openLab } from '../support/lab.ts';
import { ProxyGround, seenBy, Visitors, visit } from '../support/proxy.ts';
import { until } from '../support/until.ts';

const lab = await openLab();

test('an app that cannot run twice is replaced while its visitors wait, and a reload in between, and none is refused', async (t) => {
  const ground = await ProxyGround.open(t, await lab.fresh(t, 'provisioned'));
  const { work } = ground;
  const front = ground.front();
  const old = await ground.startApp();
  await admit(work, front, [old]);
  await ground.answersThrough(front, old);
  const before = { ...front, servers: [old] };
  await switchTo(work, before);
  const visitors = new Visitors(t, ground.url(front));
  await hold(work, before);
  assert.deepEqual([...(await drained(work, front.id, [old.name], { forMs: 20_000 }))], []);
  await dismiss(work, front.id, [old.name]);
  await ground.stopApp(old);
  await admit(work, ground.front(), []);
  const next = await ground.startApp();
  await admit(work, front, [next]);
  await ground.answersThrough(front, next);
  const answered = visitors.answered;
  assert.equal((await readFronts(work)).fronts.find(({ id }) => id === front.id)?.running?.state, 'held');
  await switchTo(work, { ...front, servers: [next] });
  while (visitors.answered < answered + 200 && visitors.failures.length === 0) await visit(ground.url(front));
  await visitors.end();
  assert.deepEqual(visitors.failures, []);
  assert.deepEqual(visitors.names, new Set([old.name, next.name]));

  // Stopped: at once, and with a word on when to come back. Held too long: the same, after the wait.
  await stopFront(work, { ...front, servers: [next] });
  const refused = await visit(ground.url(front));
  assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '5']);
  const short = { ...front, holdSeconds: 2, servers: [next] };
  await hold(work, short);
  const [begun, late] = [Date.now(), await visit(ground.url(front))];
  assert.deepEqual([late.status, late.headers['retry-after']], [503, '5']);
  assert.ok(Date.now() - begun >= 900, 'it did not wait');
  const waiting = visit(ground.url(front));
  await stopFront(work, short);
  assert.equal((await waiting).status, 503);
  await restoreFront(work, short);
  assert.equal(seenBy(await visit(ground.url(front))).name, next.name);
});

test('a proxy that is started again serves from its files, and what was damaged or half done is mended by a second run', async (t) => {
  const ground = await ProxyGround.open(t, await lab.fresh(t, 'provisioned'));
  const { work } = ground;
  const [first, second] = [await ground.startApp(), await ground.startApp()];
  const front = { ...ground.front({ hosts: ['one.example.com'] }), servers: [first] };
  const stopped = ground.front();
  await admit(work, { ...front, servers: [] }, [first]);
  await ground.answersThrough(front, first);
  await switchTo(work, front);
  await stopFront(work, stopped);
  const states = async () =>
    (await readFronts(work)).fronts.map(({ id, agrees, running }) => [id, agrees, running?.state]);
  const good = [
    [front.id, true, 'serving'],
    [stopped.id, true, 'stopped'],
  ].sort(([a], [b]) => String(a).localeCompare(String(b)));
  assert.deepEqual(await states(), good);
  await ground.sh('docker restart slipway-proxy > /dev/null');
  while (!(await readFronts(work)).isRunning);
  assert.deepEqual(await states(), good);
  const byName = { headers: { host: 'one.example.com' } };
  assert.equal(seenBy(await visit(`http://${ground.address}/`, byName)).name, first.name);
  assert.equal((await visit(ground.url(stopped))).status, 503);

  // Killed after the file: the running proxy still has the old one, and the next run notices.
  const file = `/var/lib/slipway/proxy/config/front-${front.id}.cfg`;
  await ground.sh(`sed -i 's/${first.name} ${first.address}/${second.name} ${second.address}/' ${file}`);
  assert.equal((await readFronts(work)).fronts.find(({ id }) => id === front.id)?.agrees, false);
  const moved = { ...front, hosts: ['two.example.com'], servers: [second] };
  await switchTo(work, moved);
  assert.equal(seenBy(await visit(ground.url(front))).name, second.name);
  assert.equal((await visit(`http://${ground.address}/`, byName)).status, 404);
  // Killed in a hold, before anybody lost the requests: all wait already, and the next run goes on from there.
  const begin = `@1 set server ${backendOf(front.id)}/all_wait state ready\n`;
  await work.remote.relay([
    { to: { path: `${proxyFolder}/run/master.sock` }, send: begin, timeoutMs: 2_000 },
  ]);
  assert.equal((await readFronts(work)).fronts.find(({ id }) => id === front.id)?.running?.state, 'held');
  const waits = visit(ground.url(front)).then(seenBy);
  assert.equal(await Promise.race([waits, sleep(500, 'waits')]), 'waits');
  await switchTo(work, moved);
  assert.equal((await waits).name, second.name);
  assert.deepEqual(await states(), good);
  // Damaged by hand: file gone, map emptied, started anew without it.
  await ground.sh(
    `rm ${file}; : > /var/lib/slipway/proxy/config/hosts.map; docker restart slipway-proxy > /dev/null`,
  );
  while (!(await readFronts(work)).isRunning);
  await restoreFront(work, moved);
  assert.deepEqual(await states(), good);
  const two = await visit(`http://${ground.address}/`, { headers: { host: 'TWO.example.com:80' } });
  assert.equal(seenBy(two).name, second.name);

  // A port that someone else has: the file is taken back, and nobody else notices.
  const visitors = new Visitors(t, ground.url(front), 4);
  const taken = ground.front();
  await ground.sh(
    `docker run --detach --network host node:24-slim node -e 'require("http").createServer().listen(${taken.port})' > /dev/null`,
  );
  while ((await ground.sh(`ss -tln | grep -c ':${taken.port} ' || true`)).trim() === '0');
  const fault = await faultOf(() => admit(work, taken, []));
  assert.deepEqual([fault.code, /refused/.test(fault.message)], ['proxy_failed', true], fault.evidence);
  assert.deepEqual(await states(), good);
  await visitors.end();
  assert.deepEqual(visitors.failures, []);

  // One who was replaced can do nothing any more.
  await switchTo({ ...work, fence: { ...work.fence, epoch: 3 } }, moved);
  assert.equal((await faultOf(() => switchTo(work, front))).code, 'remote_fenced');
  assert.deepEqual(await states(), good);
});

test('one reload serves all new fronts that wait for one, but for those who are gone or were replaced', async (t) => {
  const ground = await ProxyGround.open(t, await lab.fresh(t, 'provisioned'));
  const { work } = ground;
  const { remote } = work;
  const reloads = async () => {
    const [reply] = await remote.relay([
      { to: { path: `${proxyFolder}/run/master.sock` }, send: 'show proc\n', timeoutMs: 2_000 },
    ]);
    return Number(/^\d+\s+master\s+(\d+)/m.exec(reply?.last.bytes.toString() ?? '')?.[1]);
  };
  const waiting = async () => (await ground.sh(`ls ${proxyFolder}/aside 2> /dev/null || true`)).split('\n');
  const before = await reloads();
  assert.ok(Number.isInteger(before));
  await remote.startUnit({ name: 'slipway-lock', argv: ['flock', `${proxyFolder}/lock`, 'sleep', '600'] });
  await until(async () => (await remote.run(['pgrep', '-x', 'sleep'])).code === 0, 'the lock to be held');

  const fronts = Array.from({ length: 4 }, () => ground.front());
  const admitted = fronts.map((front) => admit(work, front, []));
  const [cancelled, replaced] = [ground.front(), ground.front()];
  const cancel = new AbortController();
  const broken = admit({ ...work, signal: cancel.signal }, cancelled, []);
  // It may fail before the others are done.
  const stale = faultOf(() => admit({ ...work, fence: { scope: 'replaced', epoch: 1 } }, replaced, []));
  const all = [...fronts, cancelled, replaced];
  await until(async () => {
    const seen = await waiting();
    return all.every(({ id }) => seen.includes(`front-${id}.cfg`));
  }, 'all of them to wait');
  cancel.abort(new Error('not wanted any more'));
  await assert.rejects(broken, /not wanted/);
  const scripts = async () => (await remote.run(['pgrep', '-cf', 'lay_asid[e]'])).stdout.toString().trim();
  await until(async () => (await scripts()) === String(all.length - 1), 'the cancelled one to be gone');
  await remote.fence('replaced', 2);
  await remote.stopUnit('slipway-lock');
  await Promise.all(admitted);
  assert.equal((await stale).code, 'remote_fenced');

  const { fronts: seen } = await readFronts(work);
  assert.deepEqual(seen.map(({ id }) => id).sort(), fronts.map(({ id }) => id).sort());
  assert.ok(seen.every(({ file, running }) => file !== null && running !== null));
  assert.equal((await reloads()) - before, 1);
  assert.deepEqual(
    (await waiting()).filter((name) => name.endsWith(`${cancelled.id}.cfg`)),
    [],
  );
});
