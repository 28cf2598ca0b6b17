/** How long a lab takes to come up, and what a server costs, beside what systemd itself needs to boot. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { LabClient } from '../lab/client.ts';
import { run } from '../lab/command.ts';
import { launchBound } from '../lab/launch.ts';
import { whyNot } from '../lab/needs.ts';
import { cacheDir, placementsOf } from '../lab/places.ts';
import { Progress } from '../lab/progress.ts';
import type { VariantName } from '../lab/servers/variants.ts';
import { labNames } from '../lab/state.ts';
import { type Amount, type Figure, gigabytes, LeftOut, median, megabytes, secondsOf } from './figure.ts';

const name = `bench-${process.pid}`;

export async function benchLab(): Promise<Figure[]> {
  const reason = whyNot();
  if (reason) throw new LeftOut(reason);
  await timedUp([]); // what is missing is built outside of the measurement
  const [none, two] = [
    await medianOf(3, () => timedUp([])),
    await medianOf(3, () => timedUp(['docker', 'docker'])),
  ];
  return [
    { what: 'later `up`, services alone', slipway: secondsOf(none) },
    { what: 'later `up`, two servers', slipway: secondsOf(two), aim: { atMost: 15 } },
    ...(await oneServer()),
    { what: 'disk of trees and images', slipway: await disk(cacheDir) },
  ];
}

/** Builds everything anew: minutes, and only where no lab is up. */
export async function benchFirstLab(): Promise<Figure[]> {
  const reason = whyNot() ?? (labNames().length > 0 ? `labs are up: ${labNames().join(', ')}` : undefined);
  if (reason) throw new LeftOut(reason);
  rmSync(cacheDir, { recursive: true, force: true });
  const took = await timedUp(['docker', 'docker']);
  return [{ what: 'first `up`, two servers', slipway: secondsOf(took), aim: { atMost: 120 } }];
}

async function timedUp(servers: readonly VariantName[]): Promise<number> {
  const begun = Date.now();
  const lab = await launchBound(name, servers, new Progress());
  const took = Date.now() - begun;
  await lab.end();
  return took;
}

async function oneServer(): Promise<Figure[]> {
  const lab = await launchBound(name, ['docker'], new Progress());
  try {
    const client = new LabClient(lab.about.control);
    const fresh = await timed(() => client.addServer('docker', 'fresh'));
    const reset = await timed(() => client.reset('fresh'));
    const { stdout } = await client.console('fresh', 'systemd-analyze', 'time');
    const [, bare, unit] = /finished in ([\d.]+)(m?s)\b/.exec(stdout) ?? [];
    const bareMs = Number(bare) * (unit === 'ms' ? 1 : 1_000);
    return [
      {
        what: 'one more server, until Docker answers',
        slipway: secondsOf(fresh),
        beside: { name: 'systemd alone', amount: secondsOf(bareMs) },
      },
      { what: 'reset of a server, until Docker answers', slipway: secondsOf(reset) },
      { what: 'memory of a server at rest', slipway: memoryOf('fresh') },
      { what: 'disk of a server', slipway: await disk(`${placementsOf(name).dir}/servers/fresh`) },
    ];
  } finally {
    await lab.end();
  }
}

/** Without what the kernel merely caches. */
function memoryOf(server: string): Amount {
  const old = `/sys/fs/cgroup/memory/slipway-lab-${name}/${server}/memory.stat`;
  const file = existsSync(old) ? old : `/sys/fs/cgroup/slipway-lab-${name}/${server}/memory.stat`;
  const bytes = /^(?:total_rss|anon) (\d+)$/m.exec(readFileSync(file, 'utf8'))?.[1];
  return megabytes(Number(bytes) / 1e6);
}

async function disk(folder: string): Promise<Amount> {
  const [kilobytes] = (await run('du', ['-skx', folder])).split('\t');
  return gigabytes(Number(kilobytes) / 1e6);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = Date.now();
  await work();
  return Date.now() - begun;
}

async function medianOf(times: number, work: () => Promise<number>): Promise<number> {
  const all: number[] = [];
  for (let count = 0; count < times; count += 1) all.push(await work());
  return median(all);
}
