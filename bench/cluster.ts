/** Deployments on a cluster of three, beside a script that does them with plain `docker service` commands: time, and lost requests. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { whyNot } from '../lab/needs.ts';
import { Crowd } from '../test/support/crowd.ts';
import { plainSwarm } from './cluster-plain.ts';
import { benchApp } from './deploy.ts';
import { DeployBench } from './deploy-scene.ts';
import { count, type Figure, LeftOut, median, secondsOf } from './figure.ts';
import { openMaster } from './remote.ts';

const servers = 3;
const warmRounds = 5;
const deployments = 5;

export async function benchCluster(): Promise<Figure[]> {
  const reason = whyNot();
  if (reason) throw new LeftOut(reason);
  const folder = mkdtempSync(join(tmpdir(), 'slipway-bench-cluster-'));
  const bench = await DeployBench.start(servers);
  const masters: Awaited<ReturnType<typeof openMaster>>[] = [];
  try {
    for (const server of bench.lab.servers)
      masters.push(await openMaster(bench.lab, server, join(folder, `control-${server.name}`)));
    const app = join(folder, 'app');
    mkdirSync(app);
    for (const [name, content] of Object.entries(benchApp)) writeFileSync(join(app, name), content);
    const settings = { healthPath: '/', drainSeconds: 5, stopSeconds: 5 };
    const ours = await bench.environment('first', app, settings);
    const plain = await plainSwarm(
      masters.map(({ ssh }) => ssh),
      app,
    );
    let version = 0;
    const change = async () => {
      version += 1;
      const text = `module.exports = 'v${version}';\n`;
      await bench.commit('first', { 'version.js': text });
      writeFileSync(join(app, 'version.js'), text);
    };
    const times: { ours: number[]; plain: number[] } = { ours: [], plain: [] };
    for (let round = -1; round < warmRounds; round += 1) {
      await change();
      const { ms } = await bench.deploy(ours);
      const took = await plain.deploy();
      if (round < 0) continue;
      times.ours.push(ms);
      times.plain.push(took);
    }
    const { port } = new URL(String((await bench.call('GET', `/environments/${ours}`)).url));
    const through = async (port: string, deploy: () => Promise<unknown>) => {
      const urls = bench.lab.servers.map(({ address }) => `http://${address}:${port}/`);
      // A machine that only waits for itself measures itself.
      const crowd = new Crowd(urls, { restMs: 15 });
      for (let round = 0; round < deployments; round += 1) {
        await change();
        await deploy();
      }
      await crowd.end();
      return crowd;
    };
    const seen = await through(port, () => bench.deploy(ours));
    const other = await through(plain.port, () => plain.deploy());
    for (const { what } of seen.failures.slice(0, 3)) process.stderr.write(`${what}\n`);
    const name = 'plain Swarm, start-first';
    return [
      {
        what: 'deployment of six replicas, warm build cache',
        slipway: secondsOf(median(times.ours)),
        beside: { name, amount: secondsOf(median(times.plain)) },
        aim: { ratioAtMost: 1.3 },
      },
      {
        what: `requests in ${deployments} deployments`,
        slipway: count(seen.answered),
        beside: { name, amount: count(other.answered) },
      },
      {
        what: 'requests that failed',
        slipway: count(seen.failures.length),
        beside: { name, amount: count(other.failures.length) },
        aim: { atMost: 0 },
      },
    ];
  } finally {
    for (const master of masters) await master.end();
    await bench.end();
    rmSync(folder, { recursive: true, force: true });
  }
}
