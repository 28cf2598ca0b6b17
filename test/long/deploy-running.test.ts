import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { attempt } from '../../lab/command.ts';
import { beginLooks } from '../../src/areas/reconcile/reconcile-environments.ts';
import {
  addServer,
  type Body,
  type DeployScene,
  sample,
  startDeployScene,
  succeeded,
} from '../support/deployments.ts';
import { openLab, type TestServer } from '../support/lab.ts';
import { noticesIn } from '../support/notifications.ts';
import { orderReboot } from '../support/reboot.ts';
import { openStream } from '../support/sse.ts';
import { until } from '../support/until.ts';

const lab = await openLab();
const settings = { healthPath: '/healthz', drainSeconds: 5, stopSeconds: 2 };

/** Says who it is; counts in a file of its volume, where it has one. */
const server = `const { readFileSync, writeFileSync } = require('node:fs');
const { hostname } = require('node:os');
const count = () => { try { return Number(readFileSync('/data/count', 'utf8')); } catch { return 0; } };
const server = require('node:http').createServer((req, res) => {
  if (req.url === '/count') { const next = count() + 1; writeFileSync('/data/count', String(next)); return res.end(String(next)); }
  res.setHeader('x-host', hostname());
  res.end('one ' + (process.env.COLOUR ?? 'none') + ' ' + require('./built.json').shade);
});
server.listen(process.env.PORT);
process.on('SIGTERM', () => { server.close(); setInterval(() => server.closeIdleConnections(), 50).unref(); });
`;

const files = {
  'package.json': JSON.stringify({
    name: 'runs',
    scripts: { start: 'node server.js', build: 'node build.js' },
  }),
  'build.js':
    "require('node:fs').writeFileSync('built.json', JSON.stringify({ shade: process.env.SHADE ?? 'plain' }));\n",
  'server.js': server,
  'worker.js':
    "console.log('working ' + process.env.COLOUR); setInterval(() => {}, 1000); process.on('SIGTERM', () => process.exit(0));\n",
  'cron.js': "console.log('swept ' + process.env.COLOUR);\n",
};

function plain(key: string, value: string, target = 'runtime'): Body {
  return { key, value, secret: false, target };
}

function setVariable(scene: DeployScene, environmentId: string, variable: Body): Promise<Body> {
  return scene.call('POST', `/environments/${environmentId}/variables`, { variables: [variable] });
}

async function hasBuilt(scene: DeployScene, environmentId: string, { id }: Body): Promise<boolean> {
  const lines = await scene.lines(environmentId, id);
  const isThere = lines.some((line) => line.includes('nothing has to be built'));
  const hasRun = lines.some((line) => line.includes('build.js'));
  assert.notEqual(isThere, hasRun, lines.join('\n'));
  return hasRun;
}

let looks = 0;

/** As the schedule does each minute. Only the look is so late: a session would not live that long. */
async function look({ git }: DeployScene): Promise<void> {
  const { clock, app } = git.service;
  looks += 1;
  const now = new Date(clock.now().getTime() + looks * 61_000);
  await Promise.all(await beginLooks({ ...app.contexts.reconcile, clock: { now: () => now } }));
}

function environmentOf(scene: DeployScene, id: string): Promise<Body> {
  return scene.call('GET', `/environments/${id}`);
}

/** Looks until the environment serves and says so. */
async function putRight(scene: DeployScene, environmentId: string): Promise<void> {
  await until(async () => {
    await look(scene);
    const { status, url } = await environmentOf(scene, environmentId);
    const answer = await fetch(String(url), { signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
    await answer?.text();
    return status === 'running' && answer?.status === 200;
  }, 'the look to put it right');
}

async function operationDone(scene: DeployScene, { id }: Body): Promise<void> {
  const done = await until(async () => {
    const found = await scene.call('GET', `/operations/${id}`);
    return found.finishedAt === null ? undefined : found;
  }, `operation ${id}`);
  assert.equal(done.status, 'succeeded', JSON.stringify(done.fault));
}

async function namesOn(server: TestServer, environmentId: string): Promise<string[]> {
  const found = await server.ssh(
    `docker ps --format '{{.Names}}' --filter label=slipway=app --filter label=slipway.environment=${environmentId}`,
  );
  return found.split('\n').filter(Boolean).sort();
}

async function assertNothingLeft(server: TestServer, environmentId: string, volumes = ''): Promise<void> {
  const filter = `--filter label=slipway.environment=${environmentId}`;
  const found = await server.ssh(`
    docker ps -aq ${filter}; docker network ls -q ${filter}; docker images -q ${filter}
    ls /etc/systemd/system /var/lib/slipway/builds /var/lib/slipway/units /var/lib/slipway/proxy/config 2>/dev/null | grep ${environmentId} || true
    docker volume ls -q ${filter}`);
  assert.equal(found.trim(), volumes);
}

test('what runs goes on running', async (t) => {
  const scene = await startDeployScene(t, lab);
  const { server: first } = scene;
  const second = lab.fresh(t, 'provisioned').then(async (fresh) => ({
    server: fresh,
    id: await addServer(scene.git, fresh),
  }));
  const variables = [plain('COLOUR', 'red'), plain('SHADE', 'light', 'build')];
  const { environmentId, projectId, deployment, repository } = await scene.deployed({
    files,
    settings,
    variables,
  });
  succeeded(deployment);
  assert.equal(await scene.page(environmentId), 'one red light');

  await t.test(
    'the same commit again builds nothing; a variable builds only where a build sees it',
    async () => {
      const again = await scene.deploy(environmentId);
      succeeded(again);
      assert.equal(await hasBuilt(scene, environmentId, again), false);
      assert.equal(again.imageDigest, deployment.imageDigest);

      const runtime = await setVariable(scene, environmentId, plain('COLOUR', 'green'));
      assert.equal(runtime.needs, 'restart');
      const restarted = await scene.deploy(environmentId);
      succeeded(restarted);
      assert.equal(await hasBuilt(scene, environmentId, restarted), false);
      assert.equal(await scene.page(environmentId), 'one green light');

      const build = await setVariable(scene, environmentId, plain('SHADE', 'dark', 'build'));
      assert.equal(build.needs, 'rebuild');
      const rebuilt = await scene.deploy(environmentId);
      succeeded(rebuilt);
      assert.equal(await hasBuilt(scene, environmentId, rebuilt), true);
      assert.equal(await scene.page(environmentId), 'one green dark');
    },
  );

  await t.test('a rollback builds nothing, with the variables of then or of now', async () => {
    const [owner = '', name = ''] = repository.split('/');
    const changed = { 'server.js': server.replace("'one '", "'two '") };
    await scene.git.host.commit(owner, name, { branch: 'main', message: 'Two', files: changed });
    succeeded(await scene.deploy(environmentId));
    assert.equal(await scene.page(environmentId), 'two green dark');
    const back = async (wanted: string) => {
      const path = `/environments/${environmentId}/deployments/${deployment.id}/rollback`;
      const begunAt = performance.now();
      const { id } = await scene.call('POST', path, { variables: wanted });
      const done = await scene.ended(environmentId, String(id));
      succeeded(done);
      t.diagnostic(`rollback, variables of ${wanted}: ${Math.round(performance.now() - begunAt)} ms`);
      assert.equal(await hasBuilt(scene, environmentId, done), false);
      assert.equal(done.imageDigest, deployment.imageDigest);
      assert.deepEqual([done.trigger, done.rollbackOf], ['rollback', deployment.id]);
      return scene.page(environmentId);
    };
    assert.equal(await back('then'), 'one red light');
    assert.equal(await back('now'), 'one green light');
  });

  await t.test(
    'replicas share the requests; a worker and a cron process come and go with the release',
    async () => {
      const processes = {
        worker: { command: 'node worker.js' },
        nightly: { command: 'node cron.js', schedule: '0 3 * * *' },
      };
      await scene.call('PATCH', `/environments/${environmentId}`, { settings: { replicas: 2, processes } });
      const check = async (colour: string) => {
        const done = await scene.deploy(environmentId);
        succeeded(done);
        const own = (process: string, replica: number) => `slipway-${done.id}-${process}-${replica}`;
        assert.deepEqual(await namesOn(first, environmentId), [
          own('web', 1),
          own('web', 2),
          own('worker', 1),
        ]);
        assert.equal(await first.ssh(`docker logs ${own('worker', 1)}`), `working ${colour}\n`);
        const timers = await first.ssh("systemctl list-timers --all --plain --no-legend 'slipway-cron-*'");
        const [unit] = timers.match(/slipway-cron-\S+(?=\.timer)/g) ?? assert.fail(`no timer: ${timers}`);
        assert.equal(timers.trim().split('\n').length, 1);
        await first.ssh(`sudo -n systemctl start ${unit}.service || systemctl start ${unit}.service`);
        assert.equal(await first.ssh(`docker logs ${own('nightly', 1)}`), `swept ${colour}\n`);
        const url = await scene.url(environmentId);
        const hosts = new Set<string | null>();
        for (let request = 0; request < 20; request += 1) {
          const answer = await fetch(url, { headers: { connection: 'close' } });
          await answer.text();
          hosts.add(answer.headers.get('x-host'));
        }
        assert.equal(hosts.size, 2);
      };
      await check('green');
      await setVariable(scene, environmentId, plain('COLOUR', 'blue'));
      await check('blue');
    },
  );

  await t.test('stopped, visitors are told to come again; started, it serves', async () => {
    await operationDone(scene, await scene.call('POST', `/environments/${environmentId}/stop`));
    assert.equal((await environmentOf(scene, environmentId)).status, 'stopped');
    const answer = await fetch(await scene.url(environmentId));
    await answer.text();
    assert.equal(answer.status, 503);
    assert.ok(Number(answer.headers.get('retry-after')) > 0);
    assert.deepEqual(await namesOn(first, environmentId), []);
    await look(scene);
    assert.deepEqual(await namesOn(first, environmentId), []);
    await operationDone(scene, await scene.call('POST', `/environments/${environmentId}/start`));
    assert.equal((await environmentOf(scene, environmentId)).status, 'running');
    assert.match(await scene.page(environmentId), /^two blue|^one blue/);
    assert.equal((await namesOn(first, environmentId)).length, 3);
  });

  await t.test('what is taken away by hand is put back by the look', async () => {
    const [, , worker = ''] = await namesOn(first, environmentId);
    const [one = '', two = ''] = await namesOn(first, environmentId);
    await first.ssh(`docker rm -f ${one} ${two}`);
    await putRight(scene, environmentId);
    await first.ssh(`docker stop -t 1 ${worker}`);
    await look(scene);
    const isBack = async () => (await namesOn(first, environmentId)).length === 3;
    await until(isBack, 'the worker to be back');
    await first.ssh('docker stop -t 1 slipway-proxy');
    await putRight(scene, environmentId);
    await first.ssh('docker rm -f slipway-proxy');
    await putRight(scene, environmentId);
  });

  await t.test('Docker is started anew, and the whole server: it serves again', async () => {
    await first.ssh('systemctl restart docker');
    await putRight(scene, environmentId);
    const bootId = async () => (await first.trySsh('systemctl show --property UserspaceTimestamp')).stdout;
    const before = await bootId();
    await orderReboot(lab.client, first.about.name);
    await until(async () => {
      const now = await bootId();
      return now !== '' && now !== before;
    }, 'the server to be back');
    await putRight(scene, environmentId);
    await until(async () => (await namesOn(first, environmentId)).length === 3, 'all containers to be back');
  });

  await t.test(
    'one that crashes makes its environment degraded, with its last lines, until it is well',
    async () => {
      const crashing = [plain('CRASH_AFTER_MS', '12000')];
      const made = await scene.deployed({
        files: sample('crashes-after-a-minute'),
        settings,
        variables: crashing,
      });
      succeeded(made.deployment);
      const heard = hear(scene, made.environmentId, 'degraded');
      // Each look compares with the one before, so that the crash falls between two of them whenever it comes.
      const degraded = await until(async () => {
        await look(scene);
        const found = await environmentOf(scene, made.environmentId);
        return found.status === 'degraded' && found;
      }, 'the look to see the crash');
      const problem: Body = Object(degraded.problem);
      assert.match(String(problem.code), /^app_crash(ed|_loop)$/);
      assert.match(String(problem.evidence), /TypeError[\s\S]*refreshCache/);
      assert.ok(problem.hint);
      assert.equal((await heard).environmentId, made.environmentId);
      await setVariable(scene, made.environmentId, plain('CRASH_AFTER_MS', '3600000'));
      succeeded(await scene.deploy(made.environmentId));
      await look(scene);
      const well = await environmentOf(scene, made.environmentId);
      assert.deepEqual([well.status, well.problem], ['running', null]);
      const told = (await noticesIn(scene.git.service)).filter(({ kind }) => kind.startsWith('environment_'));
      const kinds = told.map(({ kind, data }) => `${kind} ${Object(data.fault).code ?? ''}`.trim());
      assert.deepEqual(kinds, [`environment_degraded ${problem.code}`, 'environment_recovered']);
    },
  );

  await t.test('one with a volume is swapped while requests come, and none of them fails', async () => {
    const volumes = [{ name: 'data', path: '/data' }];
    const made = await scene.deployed({ files, settings: { ...settings, volumes } });
    succeeded(made.deployment);
    const url = await scene.url(made.environmentId);
    await setVariable(scene, made.environmentId, plain('COLOUR', 'grey'));
    const visits: Promise<string>[] = [];
    const deploying = scene.deploy(made.environmentId);
    let isOver = false;
    const ended = deploying.finally(() => {
      isOver = true;
    });
    while (!isOver) {
      visits.push(visit(`${url}/count`));
      await sleep(20);
    }
    succeeded(await ended);
    const answers = await Promise.all(visits);
    assert.deepEqual(
      answers.filter((each) => !/^200 \d+$/.test(each)),
      [],
    );
    const counts = answers.map((each) => Number(each.slice(4)));
    t.diagnostic(`${counts.length} requests during the swap`);
    assert.ok(counts.length > 20);
    assert.match(await scene.page(made.environmentId), /grey/);
    const last = Number(await scene.page(made.environmentId, '/count'));
    assert.equal(last, Math.max(...counts) + 1);

    const path = `/environments/${made.environmentId}`;
    const refused = await scene.git.service.call('DELETE', path, { token: scene.token });
    assert.deepEqual([refused.status, refused.body.code], [409, 'services_hold_data']);
    await scene.page(made.environmentId);
    await operationDone(scene, await scene.call('DELETE', `${path}?deleteData=true`));
    await assertNothingLeft(first, made.environmentId);
    // A connection of its own: one that is kept alive ends when its visitor goes.
    assert.equal((await attempt('curl', ['-s', '-o', '/dev/null', url])).code, 7);
    const gone = await scene.git.service.call('GET', path, { token: scene.token });
    assert.equal(gone.status, 404);
  });

  await t.test(
    'moved to another server it serves there, and nothing of it is left on the first',
    async () => {
      const { id: serverId, server: other } = await second;
      const before = await scene.url(environmentId);
      const page = await scene.page(environmentId);
      const linked = await scene.call('PATCH', `/environments/${environmentId}/server`, { serverId });
      const moved = await scene.ended(environmentId, String(Object(linked.deployment).id));
      succeeded(moved);
      const after = await scene.url(environmentId);
      assert.notEqual(new URL(after).hostname, new URL(before).hostname);
      assert.equal(await scene.page(environmentId), page);
      assert.equal((await namesOn(other, environmentId)).length, 3);
      await assertNothingLeft(first, environmentId);
      await assert.rejects(fetch(before));
    },
  );

  await t.test('a project that is deleted leaves nothing on any server', async () => {
    const { server: other } = await second;
    const url = await scene.url(environmentId);
    await operationDone(scene, await scene.call('DELETE', `/projects/${projectId}`));
    await assertNothingLeft(other, environmentId);
    // A connection of its own: one that is kept alive ends when its visitor goes.
    assert.equal((await attempt('curl', ['-s', '-o', '/dev/null', url])).code, 7);
    const gone = await scene.git.service.call('GET', `/projects/${projectId}`, { token: scene.token });
    assert.equal(gone.status, 404);
  });
});

/** What a visitor got, in words: what went wrong is judged once all are back. */
async function visit(url: string): Promise<string> {
  try {
    const answer = await fetch(url);
    return `${answer.status} ${await answer.text()}`;
  } catch (error) {
    return String(error);
  }
}

/** The first event of the workspace that says this of the environment. */
async function hear({ git, token }: DeployScene, environmentId: string, status: string): Promise<Body> {
  const stream = await openStream(`${git.service.url}/api/v1/events`, { token });
  for await (const { data } of stream.events()) {
    if (data.environmentId !== environmentId || data.status !== status) continue;
    stream.close();
    return data;
  }
  throw new Error(`the stream ended before it said ${status}`);
}
