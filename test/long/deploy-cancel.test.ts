import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Body, type DeployScene, startDeployScene, succeeded } from '../support/deployments.ts';
import { openLab } from '../support/lab.ts';
import { plainApp, plainSettings, tracesOf, versionVariable, Watchers } from '../support/plain-app.ts';
import { openStream, type ReadEvent } from '../support/sse.ts';
import { until } from '../support/until.ts';

const lab = await openLab();

/** One environment that serves, and is watched while deployments of it are cancelled. */
class Ground {
  readonly scene: DeployScene;
  readonly environmentId: string;
  readonly repository: string;
  readonly current: string;

  constructor(scene: DeployScene, environmentId: string, repository: string, current: string) {
    this.scene = scene;
    this.environmentId = environmentId;
    this.repository = repository;
    this.current = current;
  }

  static async open(scene: DeployScene, settings: Body = {}, variables: Body[] = []): Promise<Ground> {
    const wish = { files: plainApp(), settings: { ...plainSettings, ...settings } };
    const made = await scene.deployed({ ...wish, variables: [versionVariable('one'), ...variables] });
    succeeded(made.deployment);
    return new Ground(scene, made.environmentId, made.repository, String(made.deployment.id));
  }

  get #path(): string {
    return `/environments/${this.environmentId}`;
  }

  async begin(): Promise<string> {
    return String((await this.scene.call('POST', `${this.#path}/deployments`, {})).id);
  }

  read(id: string): Promise<Body> {
    return this.scene.call('GET', `${this.#path}/deployments/${id}`);
  }

  set(variables: Body[]): Promise<Body> {
    return this.scene.call('POST', `${this.#path}/variables`, { variables });
  }

  settings(settings: Body): Promise<Body> {
    return this.scene.call('PATCH', this.#path, { settings });
  }

  async commit(files: Record<string, string>): Promise<void> {
    const [owner = '', name = ''] = this.repository.split('/');
    await this.scene.git.host.commit(owner, name, { branch: 'main', message: 'Change it', files });
  }

  /** Until it is at the step, and did not end before. */
  async at(id: string, step: string): Promise<void> {
    await until(async () => {
      const found = await this.read(id);
      assert.equal(found.finishedAt, null, `ended before: ${JSON.stringify(found)}`);
      return found.step === step;
    }, `the step ${step}`);
  }

  tryCancel(id: string) {
    const { service } = this.scene.git;
    return service.call('POST', `${this.#path}/deployments/${id}/cancel`, { token: this.scene.token });
  }

  events(id: string): Promise<ReadEvent[]> {
    return eventsOf(this.scene, `${this.#path}/deployments/${id}/status`);
  }

  /** It ended as cancelled, says so everywhere, left nothing behind, and what was before is. */
  async wasCancelled(id: string, marks: readonly string[] = []): Promise<Body> {
    const found = await this.scene.ended(this.environmentId, id);
    assert.deepEqual(
      [found.status, found.fault, found.step],
      ['cancelled', null, null],
      JSON.stringify(found),
    );
    assert.deepEqual(await tracesOf(this.scene.server, id, marks), []);
    const events = await this.events(id);
    assert.deepEqual([events.at(-1)?.event, events.at(-1)?.data.status], ['end', 'cancelled']);
    const environment = await this.scene.call('GET', this.#path);
    assert.deepEqual([environment.status, environment.currentDeploymentId], ['running', this.current]);
    assert.equal(await this.scene.page(this.environmentId), 'one');
    return found;
  }

  async cancelled(id: string, marks: readonly string[] = []): Promise<Body> {
    const answer = await this.tryCancel(id);
    assert.equal(answer.status, 202, answer.text);
    return this.wasCancelled(id, marks);
  }
}

async function eventsOf(scene: DeployScene, path: string): Promise<ReadEvent[]> {
  const stream = await openStream(`${scene.git.service.url}/api/v1${path}`, { token: scene.token });
  assert.equal(stream.status, 200, stream.body);
  return Array.fromAsync(stream.events());
}

function runsOn({ server }: DeployScene, mark: string): Promise<boolean> {
  return until(
    async () => (await server.trySsh(`pgrep --full --exact '${mark}'`)).code === 0,
    `«${mark}» to run`,
  );
}

function endsWell(watchers: Watchers): Promise<void> {
  assert.ok(watchers.count > 20, `${watchers.count} visits`);
  assert.deepEqual(watchers.failures, []);
  return watchers.end();
}

test('a deployment is cancelled in any state, and nothing of it is left while the old release serves', async (t) => {
  const scene = await startDeployScene(t, lab);
  const ground = await Ground.open(scene);
  const { environmentId, repository, current } = ground;
  const watchers = new Watchers(t, await scene.url(environmentId));

  await t.test('in the queue, and the one before it in the fetch', async (t) => {
    const fault = { pathPrefix: `/${repository}`, status: null };
    scene.git.host.setFault({ ...fault, delayMs: 600_000 });
    t.after(() => scene.git.host.setFault(fault));
    const first = await ground.begin();
    await ground.at(first, 'fetch');
    const waiting = await ground.begin();
    const answer = await ground.tryCancel(waiting);
    assert.deepEqual([answer.status, answer.body.status], [202, 'cancelled'], answer.text);
    assert.deepEqual([answer.body.startedAt, answer.body.steps], [null, []], 'it never began');
    assert.equal((await scene.call('GET', `/environments/${environmentId}`)).status, 'deploying');
    assert.equal((await ground.events(waiting)).at(-1)?.event, 'end');
    assert.deepEqual(await tracesOf(scene.server, waiting), []);
    await ground.cancelled(first);
  });

  await t.test('in the build, with a step that would take an hour', async () => {
    await ground.commit(plainApp('RUN sleep 4711'));
    const id = await ground.begin();
    await runsOn(scene, 'sleep 4711');
    const steps = Object((await ground.cancelled(id, ['sleep 4711'])).steps);
    assert.deepEqual([steps.at(-1).name, steps.at(-1).status], ['build', 'cancelled']);
    await ground.commit(plainApp());
  });

  await t.test('in the release command, by way of its operation', async () => {
    await ground.settings({ releaseCommand: 'sleep 4712' });
    const id = await ground.begin();
    await runsOn(scene, 'sleep 4712');
    const { operationId } = await ground.read(id);
    await scene.call('POST', `/operations/${operationId}/cancel`);
    await ground.wasCancelled(id, ['sleep 4712']);
    const events = await eventsOf(scene, `/operations/${operationId}/events`);
    assert.deepEqual([events.at(-1)?.event, events.at(-1)?.data.status], ['end', 'cancelled']);
    await ground.settings({ releaseCommand: null });
  });

  await t.test('while it is not yet healthy', async () => {
    await ground.settings({ health: { startSeconds: 600 } });
    await ground.set([{ key: 'SICK', value: 'yes', secret: false, target: 'runtime' }]);
    const id = await ground.begin();
    await until(
      async () => (await scene.lines(environmentId, id)).some((line) => line.includes('503')),
      'the first probe',
    );
    const { probes } = await ground.cancelled(id);
    assert.ok(Array.from(Object(probes), ({ status }: Body) => status).includes(503), 'probes are kept');
    await scene.call('DELETE', `/environments/${environmentId}/variables/SICK`);
  });

  await t.test('in the drain, with workers, and the request that it waits for is answered', async () => {
    await ground.settings({ drainSeconds: 120, processes: { worker: { command: 'exec sleep 4713' } } });
    await ground.set([versionVariable('two')]);
    const slow = scene.page(environmentId, '/slow?ms=8000');
    const id = await ground.begin();
    await ground.at(id, 'switch');
    await until(async () => (await scene.page(environmentId)) === 'two', 'the new one to serve');
    await ground.cancelled(id, ['sleep 4713']);
    assert.equal(await slow, 'one');
    await ground.settings({ drainSeconds: 1, processes: {} });
  });

  await t.test('a repeated cancel changes nothing', async () => {
    await ground.commit(plainApp('RUN sleep 4714'));
    const id = await ground.begin();
    await runsOn(scene, 'sleep 4714');
    const answers = await Promise.all([1, 2, 3].map(() => ground.tryCancel(id)));
    assert.ok(answers.every(({ status }) => status === 202));
    await ground.wasCancelled(id, ['sleep 4714']);
    const late = await ground.tryCancel(id);
    assert.deepEqual([late.status, late.body.code], [409, 'already_finished']);
    await ground.commit(plainApp());
  });

  await t.test('once the environment points to the new release it is too late', async () => {
    const id = await ground.begin();
    const path = `/environments/${environmentId}/deployments/${id}/status`;
    const url = `${scene.git.service.url}/api/v1${path}`;
    const stream = await openStream(url, { token: scene.token });
    for await (const { data } of stream.events()) {
      if (data.status !== 'succeeded') continue;
      const answer = await ground.tryCancel(id);
      assert.deepEqual([answer.status, answer.body.code], [409, 'already_finished'], answer.text);
      break;
    }
    succeeded(await scene.ended(environmentId, id));
    assert.equal(await scene.page(environmentId), 'two');
    assert.equal((await ground.tryCancel(id)).status, 409);
    assert.deepEqual(await tracesOf(scene.server, current), []);
  });

  await endsWell(watchers);
});

test('a release that had to stop comes back when its successor is cancelled, and one that stops late keeps nobody waiting', async (t) => {
  const scene = await startDeployScene(t, lab);

  await t.test('one with a volume, whose visitors wait meanwhile', async () => {
    const ground = await Ground.open(scene, { volumes: [{ name: 'data', path: '/data' }], holdSeconds: 60 });
    const watchers = new Watchers(t, await scene.url(ground.environmentId));
    await ground.set([{ key: 'SICK', value: 'yes', secret: false, target: 'runtime' }]);
    const id = await ground.begin();
    await ground.at(id, 'health');
    await ground.cancelled(id);
    await endsWell(watchers);
  });

  await t.test('one that does not heed SIGTERM keeps nobody waiting, and is gone in the end', async () => {
    const stubborn = { key: 'STUBBORN', value: 'yes', secret: false, target: 'runtime' };
    const ground = await Ground.open(scene, { stopSeconds: 20, drainSeconds: 1 }, [stubborn]);
    const old = `slipway-${ground.current}-web-1`;
    const running = async () => (await scene.server.ssh("docker ps --format '{{.Names}}'")).split('\n');
    const watchers = new Watchers(t, await scene.url(ground.environmentId));
    await ground.set([versionVariable('two')]);
    const id = await ground.begin();
    await until(async () => (await ground.read(id)).status === 'succeeded', 'the success');
    assert.ok((await running()).includes(old), 'the success waited for it');
    assert.equal((await ground.tryCancel(id)).status, 409);
    await until(async () => !(await running()).includes(old), 'it to be stopped');
    succeeded(await scene.ended(ground.environmentId, id));
    assert.equal(await scene.page(ground.environmentId), 'two');
    await endsWell(watchers);
  });

  await t.test('the first of an environment leaves it idle, without a front', async () => {
    await firstIsCancelled(t, scene);
  });
});

async function firstIsCancelled(_t: TestContext, scene: DeployScene): Promise<void> {
  const made = await scene.deployed({
    files: plainApp(),
    settings: { ...plainSettings, health: { startSeconds: 300 } },
    deploy: false,
    variables: [{ key: 'SICK', value: 'yes', secret: false, target: 'runtime' }],
  });
  const ground = new Ground(scene, made.environmentId, made.repository, '');
  const id = await ground.begin();
  await ground.at(id, 'health');
  assert.equal((await ground.tryCancel(id)).status, 202);
  const ended = await scene.ended(made.environmentId, id);
  assert.equal(ended.status, 'cancelled', JSON.stringify(ended));
  assert.deepEqual(await tracesOf(scene.server, id), []);
  assert.deepEqual(await tracesOf(scene.server, made.environmentId), []);
  const environment = await scene.call('GET', `/environments/${made.environmentId}`);
  assert.deepEqual([environment.status, environment.currentDeploymentId], ['idle', null]);
}
