/** How long a lab takes to come up, and what a server costs, beside what systemd itself needs to boot. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { LabClient } from '../lab/client.ts';
import { run } from '../lab/command.ts';
import { launchBound } from '../lab/launch.ts';
import { whyNot } from '../lab/needs.ts';
import { cacheDir, placesOf } from '../lab/places.ts';
import { Progress } from '../lab/progress.ts';
import type { VariantName } from '../lab/servers/variants.ts';
import { labNames } from '../lab/state.ts';
import type { Figure } from './run.ts';

const name = `bench-${process.pid}`;

export async function benchLab(): Promise<Figure[]> {
  const reason = whyNot();
  if (reason) return [{ what: 'left out', value: reason }];
  await timedUp([]); // what is missing is built outside of the measurement
  const [none, two] = [
    await median(3, () => timedUp([])),
    await median(3, () => timedUp(['docker', 'docker'])),
  ];
  return [
    { what: 'later `up`, services alone', value: seconds(none) },
    { what: 'later `up`, two servers', value: seconds(two) },
    ...(await oneServer()),
    { what: 'disk of trees and images', value: await disk(cacheDir) },
  ];
}

/** Builds everything anew: minutes, and only where no lab is up. */
export async function benchFirstLab(): Promise<Figure[]> {
  const reason = whyNot() ?? (labNames().length > 0 ? `labs are up: ${labNames().join(', ')}` : undefined);
  if (reason) return [{ what: 'left out', value: reason }];
  rmSync(cacheDir, { recursive: true, force: true });
  return [{ what: 'first `up`, two servers', value: seconds(await timedUp(['docker', 'docker'])) }];
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
    const bare = /finished in ([\d.]+\w+)/.exec(stdout)?.[1] ?? stdout.trim();
    return [
      {
        what: 'one more server, until Docker answers',
        value: seconds(fresh),
        beside: `systemd alone: ${bare}`,
      },
      { what: 'reset of a server, until Docker answers', value: seconds(reset) },
      { what: 'memory of a server at rest', value: memoryOf('fresh') },
      { what: 'disk of a server', value: await disk(`${placesOf(name).dir}/servers/fresh`) },
    ];
  } finally {
    await lab.end();
  }
}

/** Without what the kernel merely caches. */
function memoryOf(server: string): string {
  const old = `/sys/fs/cgroup/memory/slipway-lab-${name}/${server}/memory.stat`;
  const file = existsSync(old) ? old : `/sys/fs/cgroup/slipway-lab-${name}/${server}/memory.stat`;
  const bytes = /^(?:total_rss|anon) (\d+)$/m.exec(readFileSync(file, 'utf8'))?.[1];
  return `${Math.round(Number(bytes) / 1e6)} MB`;
}

async function disk(folder: string): Promise<string> {
  const [kilobytes] = (await run('du', ['-skx', folder])).split('\t');
  return `${(Number(kilobytes) / 1e6).toFixed(2)} GB`;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = Date.now();
  await work();
  return Date.now() - begun;
}

async function median(times: number, work: () => Promise<number>): Promise<number> {
  const all: number[] = [];
  for (let count = 0; count < times; count += 1) all.push(await work());
  return all.sort((one, other) => one - other)[Math.floor(times / 2)] ?? 0;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
