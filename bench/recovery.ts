/** From the next start to the moment when a deployment goes on, of which the service was killed with -9 during the build. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { whyNot } from '../lab/needs.ts';
import { benchApp } from './deploy.ts';
import { type Body, DeployBench } from './deploy-scene.ts';
import { type Figure, LeftOut, median, milliseconds } from './figure.ts';
import { type Service, type ServiceOptions, startService } from './service.ts';

const kills = 5;

export async function benchRecovery(): Promise<Figure[]> {
  const reason = whyNot();
  if (reason) throw new LeftOut(reason);
  const app = mkdtempSync(join(tmpdir(), 'slipway-bench-recovery-'));
  const running: { options: ServiceOptions; service: Service | undefined } = {
    options: {},
    service: undefined,
  };
  const bench = await DeployBench.with(async (dataDir, env) => {
    running.options = { dataDir, env };
    running.service = await startService(running.options);
    return {
      get url() {
        return running.service?.url ?? '';
      },
      stop: async () => running.service?.stop(),
    };
  });
  try {
    // A build that is still under way when the service is back.
    const Dockerfile = benchApp.Dockerfile.replace('USER 1000', 'RUN sleep 8\nUSER 1000');
    for (const [name, content] of Object.entries({ ...benchApp, Dockerfile }))
      writeFileSync(join(app, name), content);
    const environmentId = await bench.environment('killed', app, { healthPath: '/' });
    const resumed: number[] = [];
    for (let kill = 1; kill <= kills; kill += 1) {
      await bench.commit('killed', { 'version.js': `module.exports = 'v${kill}';\n` });
      const { id } = await bench.call('POST', `/environments/${environmentId}/deployments`, {});
      const path = `/environments/${environmentId}/deployments/${id}`;
      const { operationId } = await bench.call('GET', path);
      await buildBegun(bench, operationId, 0);
      await killService(running.service);
      const startedAt = Date.now();
      running.service = await startService(running.options);
      resumed.push((await buildBegun(bench, operationId, startedAt)) - startedAt);
      await bench.ended(environmentId, String(id));
    }
    return [
      {
        what: `a deployment goes on after \`kill -9\`, from the next start, median of ${kills}`,
        slipway: milliseconds(median(resumed)),
        aim: { atMost: 2_000 },
      },
      { what: 'the same, the slowest', slipway: milliseconds(Math.max(...resumed)) },
    ];
  } finally {
    await bench.end();
    rmSync(app, { recursive: true, force: true });
  }
}

/** When its step `build` was begun, or begun again, by the database's clock; this machine's too. */
async function buildBegun(
  bench: { call(method: string, path: string): Promise<Body> },
  operationId: unknown,
  since: number,
): Promise<number> {
  for (;;) {
    const { steps } = await bench.call('GET', `/operations/${operationId}`);
    const build = Array.from(Object(steps), Object).find(({ name }) => name === 'build');
    const begunAt = Date.parse(String(build?.startedAt));
    if (begunAt >= since) return begunAt;
    await sleep(20);
  }
}

async function killService(service: Service | undefined): Promise<void> {
  if (!service) return;
  const ended = once(service.process, 'exit');
  service.process.kill('SIGKILL');
  await ended;
}
