import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beginLooks } from '../../src/areas/reconcile/reconcile-environments.ts';
import { sql } from '../../src/store/sql.ts';
import { startDeployScene, succeeded } from '../support/deployments.ts';
import { openLab } from '../support/lab.ts';
import { plainApp, plainSettings } from '../support/plain-app.ts';
import { hangMs, until } from '../support/until.ts';

const lab = await openLab();

/** Takes what it is asked to take; never more than a gigabyte and a half, since it may run without a limit. */
const greedy = `
const { spawn } = require('node:child_process');
const { Worker } = require('node:worker_threads');
const eaten = [];
const acts = {
  '/eat': (megabytes) => {
    for (let each = 0; each < Math.min(megabytes, 1500); each += 10) eaten.push(Buffer.alloc(10 << 20, 1));
    return 'ate ' + eaten.length * 10;
  },
  '/burn': () => {
    for (let each = 0; each < 8; each += 1) new Worker('const end = Date.now() + 5000; while (Date.now() < end);', { eval: true });
    return 'burning';
  },
  // Until it may not any more; the shell ends then, and its children stay for a while.
  '/fork': () => new Promise((done) => {
    const forking = 'i=0; while [ $i -lt 700 ]; do sleep 20 </dev/null >/dev/null 2>&1 & i=$((i + 1)); echo $i; done';
    const shell = spawn('sh', ['-c', forking], { stdio: ['ignore', 'pipe', 'ignore'] });
    let said = '';
    shell.stdout.on('data', (data) => { said += data; });
    shell.on('close', () => done(said.trim().split('\\n').at(-1)));
  }),
};
require('node:http').createServer(async (request, answer) => {
  const { pathname, searchParams } = new URL(request.url, 'http://app');
  answer.end(await (acts[pathname]?.(Number(searchParams.get('mb'))) ?? 'alive'));
}).listen(8080);`;

const files = { ...plainApp(), 'server.js': greedy };
const settings = { ...plainSettings, healthPath: null, drainSeconds: 1 };

test('one app cannot take the server down', async (t) => {
  const scene = await startDeployScene(t, lab);
  // A small server, whatever is found out about it: in truth it has all the memory of this machine.
  const { db } = scene.git.service.app.store;
  await db.run(sql`
    create function small() returns trigger language plpgsql as $$
    begin
      new.facts := new.facts || '{"memoryMb": 700}'::jsonb;
      return new;
    end $$`);
  await db.run(sql`create trigger small before update on servers for each row execute function small()`);
  await db.run(sql`update servers set facts = facts where id = ${scene.serverId}`);
  const most = 444;
  const services = [{ kind: 'redis', memoryMb: 64 }];
  const neighbour = await scene.deployed({
    name: 'neighbour',
    files: plainApp(),
    settings: plainSettings,
    services,
  });
  const eater = await scene.deployed({ name: 'eater', files, settings });
  for (const { deployment } of [neighbour, eater]) succeeded(deployment);
  const url = await scene.url(eater.environmentId);
  const ask = (path: string) => fetch(`${url}${path}`, { signal: AbortSignal.timeout(hangMs) });
  const othersGoOn = async () => {
    assert.equal(await scene.page(neighbour.environmentId), 'none');
    assert.equal((await scene.server.ssh('echo in')).trim(), 'in');
  };

  const inspect = async (environmentId: string, format: string) => {
    const all = `docker ps --all --quiet --filter label=slipway.environment=${environmentId}`;
    return (await scene.server.ssh(`docker inspect --format '${format}' $(${all})`)).trim().split('\n');
  };
  let looks = 0;
  /** As the schedule does each minute. */
  const look = async () => {
    const { clock, app } = scene.git.service;
    looks += 1;
    const now = new Date(clock.now().getTime() + looks * 61_000);
    await Promise.all(await beginLooks({ ...app.contexts.reconcile, clock: { now: () => now } }));
  };
  const restartsOf = async (environmentId: string) =>
    (await inspect(environmentId, '{{.RestartCount}}')).map(Number);

  await t.test(
    'whoever looks for a container without a limit finds none, and the API says which they have',
    async () => {
      const format =
        '{{.HostConfig.Memory}} {{.HostConfig.NanoCpus}} {{.HostConfig.CgroupParent}} {{.HostConfig.OomScoreAdj}}';
      const ours = 'docker ps --quiet --filter label=slipway.environment';
      const said = await scene.server.ssh(`docker inspect --format '${format}' $(${ours})`);
      const rows = said
        .trim()
        .split('\n')
        .map((line) => line.split(' '));
      assert.equal(rows.length, 3);
      for (const [memory, cpus, group, score] of rows) {
        assert.ok(Number(memory) > 0 && Number(memory) <= most << 20, said);
        assert.ok(Number(cpus) > 0 && Number(score) > 0, said);
        assert.match(group ?? '', /slipway\.slice$/);
      }
      const { resources } = await scene.call('GET', `/environments/${eater.environmentId}`);
      assert.deepEqual(Object(resources).memoryMb, { limit: most, source: 'default' });
    },
  );

  await t.test('whoever wants all the memory is ended, and others go on', async () => {
    await look();
    const answer = await ask('/eat?mb=1500');
    assert.notEqual(answer.status, 200, await answer.text());
    await othersGoOn();
    await until(async () => (await ask('/').catch(() => undefined))?.status === 200, 'it to run again');
    const told = await until(async () => {
      const { problem } = await scene.call('GET', `/environments/${eater.environmentId}`);
      if (problem === null) await look();
      return problem ?? undefined;
    }, 'its end to be noticed');
    assert.equal(Object(told).code, 'app_out_of_memory', JSON.stringify(told));
  });

  await t.test('whoever spreads over several containers has no more than all may have together', async () => {
    const { environmentId } = eater;
    const small = { settings: { memoryMb: 300, replicas: 2 } };
    await scene.call('PATCH', `/environments/${environmentId}`, small);
    succeeded(await scene.deploy(environmentId));
    const addresses = await inspect(
      environmentId,
      '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}',
    );
    assert.equal(addresses.length, 2);
    const eat = addresses.map(
      (each) => `curl --silent --max-time 60 http://${each}:8080/eat?mb=230 || echo ended`,
    );
    const said = await scene.server.ssh(`{ ${eat.join(' & ')} & wait; }`);
    // Each of them has enough for itself. Whom the kernel ends may have had its answer before.
    assert.notDeepEqual(await restartsOf(environmentId), [0, 0], said);
    assert.deepEqual(await restartsOf(neighbour.environmentId), [0, 0]);
    await othersGoOn();
  });

  await t.test('whoever wants all processes and all processor time leaves enough to others', async () => {
    // Anew, and alone: whoever still holds what it ate would be ended for its memory.
    await scene.call('PATCH', `/environments/${eater.environmentId}`, { settings: { replicas: 1 } });
    succeeded(await scene.deploy(eater.environmentId));
    await until(async () => (await ask('/').catch(() => undefined))?.status === 200, 'it to run again');
    // Before it forks: then it has no thread left to burn with.
    assert.equal(await (await ask('/burn')).text(), 'burning');
    await othersGoOn();
    const forked = Number(await (await ask('/fork')).text());
    assert.ok(forked < 512, `${forked} processes`);
    await othersGoOn();
  });
});
