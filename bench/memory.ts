/** What all processes hold a minute after the work of a day: sign-ins, deployments and a backup. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { whyNot } from '../lab/needs.ts';
import { backUp, withDatabase } from './backup.ts';
import { benchApp } from './deploy.ts';
import { DeployBench, person } from './deploy-scene.ts';
import { type Figure, LeftOut, megabytes } from './figure.ts';
import { startService } from './service.ts';
import { memoryOf } from './start.ts';

const [logins, deployments] = [60, 20];
const restMs = 60_000;

export async function benchMemory(): Promise<Figure[]> {
  const reason = whyNot();
  if (reason) throw new LeftOut(reason);
  const app = mkdtempSync(join(tmpdir(), 'slipway-bench-memory-'));
  const bench = await DeployBench.with((dataDir, env) =>
    startService({ command: ['npm', 'start'], dataDir, env }),
  );
  try {
    for (let left = logins; left > 0; left -= 1) await bench.call('POST', '/auth/login', person);
    for (const [name, content] of Object.entries(benchApp)) writeFileSync(join(app, name), content);
    const environmentId = await bench.environment('kept', app, { healthPath: '/', drainSeconds: 1 });
    for (let version = 1; version < deployments; version += 1) {
      await bench.commit('kept', { 'version.js': `module.exports = 'v${version}';\n` });
      await bench.deploy(environmentId);
    }
    await withDatabase(bench, environmentId);
    await backUp(bench, environmentId);
    await sleep(restMs);
    const all = memoryOf(bench.app.process.pid ?? 0);
    const sum = (wanted: RegExp) =>
      all.filter(({ name }) => wanted.test(name)).reduce((total, { mb }) => total + mb, 0);
    const when = `a minute after ${logins} sign-ins, ${deployments} deployments and a backup`;
    return [
      { what: `the service, ${when}`, slipway: megabytes(sum(/main\.js/)) },
      { what: `all processes, ${when}`, slipway: megabytes(sum(/./)), aim: { atMost: 170 } },
    ];
  } finally {
    await bench.end();
    rmSync(app, { recursive: true, force: true });
  }
}
