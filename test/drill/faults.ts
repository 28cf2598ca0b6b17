/** The faults of a wave, chosen by its seed, and how each is made to happen. They come one after the other. */
import { setTimeout as sleep } from 'node:timers/promises';
import { unitRoot } from '../../src/remote/unit-scripts.ts';
import type { Host } from '../faults/hosts.ts';
import { anyOf, type Point } from '../faults/orders.ts';
import { reboot, type Window } from '../faults/troubles.ts';
import type { Random } from '../support/random.ts';
import { until } from '../support/until.ts';
import type { Scene } from './scene.ts';

export type DrillFault = { readonly waitMs: number } & (
  | { readonly kind: 'kill' | 'stall'; readonly host: 0 | 1 }
  /** At the next write of the journal of whatever is at work then. */
  | { readonly kind: 'kill at write'; readonly moment: Point['moment']; readonly which: number }
  | { readonly kind: 'kill both' | 'dockerd' | 'proxy' | 'reboot' | 'disk' }
  | { readonly kind: 'postgres' | 'cut' | 'cut second' | 'git host' | 'names'; readonly forMs: number }
);
export type FaultKind = DrillFault['kind'];

/** Rare ones once in a while: a reboot costs half a minute of everybody's time. */
export function chooseFaults(random: Random, count: number, hasOutage: boolean): DrillFault[] {
  const rare = random.pick('', '', '', '', '', '', '', 'reboot', 'disk', 'disk');
  const faults = Array.from({ length: count }, () => chooseFault(random, hasOutage));
  const waitMs = random.between(500, 4_000);
  if (rare === 'disk') faults[0] = { kind: 'disk', waitMs: 0 };
  if (rare === 'reboot') faults[count - 1] = { kind: 'reboot', waitMs };
  return faults;
}

function chooseFault(random: Random, hasOutage: boolean): DrillFault {
  const kind = random.pick<FaultKind>(
    ...(['kill at write', 'kill at write', 'kill at write', 'kill at write', 'kill at write'] as const),
    ...(['kill', 'kill', 'kill', 'kill both', 'stall', 'stall', 'cut', 'cut', 'cut second'] as const),
    ...(['dockerd', 'proxy', 'git host', 'names'] as const),
    ...(hasOutage ? (['postgres', 'postgres'] as const) : (['kill', 'kill'] as const)),
  );
  const waitMs = random.between(200, 4_000);
  const [host, moment] = [random.pick(0, 1), random.pick('before', 'after')] as const;
  const [which, forMs] = [random.between(0, 1_000), random.between(1_000, 5_000)];
  if (kind === 'kill' || kind === 'stall') return { kind, waitMs, host };
  if (kind === 'kill at write') return { kind, waitMs, moment, which };
  if (kind === 'kill both' || kind === 'dockerd' || kind === 'proxy') return { kind, waitMs };
  if (kind === 'reboot' || kind === 'disk') return { kind, waitMs };
  return { kind, waitMs, forMs };
}

export interface Surroundings {
  readonly scene: Scene;
  /** The kinds of operations that are at work. */
  atWork(): Promise<string[]>;
  /** Visitors are sent away before the server goes down, and come again. */
  withoutVisitors(work: () => Promise<void>): Promise<void>;
}

export interface Caused {
  /** As it came about: where nobody wrote in time, a kill at a write is a kill. */
  readonly kind: FaultKind;
  readonly window?: Window;
}

/** Ends when it is over, with all processes of the service alive. */
export async function cause(around: Surroundings, fault: DrillFault): Promise<Caused> {
  await sleep(fault.waitMs);
  let kind: FaultKind = fault.kind;
  const { scene } = around;
  const { ground } = scene;
  if (fault.kind === 'kill') await kill(ground.hosts[fault.host]);
  else if (fault.kind === 'kill both') await Promise.all(ground.hosts.map(kill));
  else if (fault.kind === 'kill at write') kind = await killAtWrite(around, fault);
  else if (fault.kind === 'stall') await stall(ground.hosts[fault.host], ground.leaseMs + 1_500);
  else if (fault.kind === 'postgres') {
    await scene.outage?.stop();
    await sleep(fault.forMs);
    await scene.outage?.start();
  } else if (fault.kind === 'cut' || fault.kind === 'cut second') {
    const { name } = (fault.kind === 'cut second' && scene.second?.server) || ground.server;
    await ground.lab.cut(name);
    await sleep(fault.forMs);
    await ground.lab.heal(name);
  } else if (fault.kind === 'dockerd') await scene.console.sh('systemctl restart docker');
  else if (fault.kind === 'proxy') {
    const from = Date.now();
    await scene.console.steadily('docker restart --time 1 slipway-proxy');
    // It has to read its files before it listens.
    return { kind, window: { from, to: Date.now() + 2_000 } };
  } else if (fault.kind === 'git host') {
    ground.git.setFault({ pathPrefix: '/', status: 503 });
    await sleep(fault.forMs);
    ground.git.setFault({ pathPrefix: '/', status: null });
  } else if (fault.kind === 'names') await withoutNames(scene, fault.forMs);
  else if (fault.kind === 'disk') await fill(scene);
  else await around.withoutVisitors(() => scene.console.closedWhile(() => reboot(ground)));
  await ground.revive();
  return { kind };
}

async function kill(host: Host): Promise<void> {
  await host.end('SIGKILL');
}

/** Where nobody writes within that time, one is killed where it stands. */
async function killAtWrite(
  { scene: { ground }, atWork }: Surroundings,
  { moment, which }: DrillFault & { kind: 'kill at write' },
): Promise<'kill' | 'kill at write'> {
  const kinds = await atWork();
  const kind = kinds[which % Math.max(kinds.length, 1)];
  const host = ground.hosts[which % 2 === 0 ? 0 : 1];
  if (kind === undefined) {
    await kill(host);
    return 'kill';
  }
  const point: Point = { moment, entry: anyOf(kind) };
  ground.orders.give(point, 'kill');
  try {
    const { pid } = await ground.orders.met(point, 4_000);
    await until(
      () => !ground.hosts.some((each) => each.pid === pid) || undefined,
      'the killed process to be gone',
    );
    return 'kill at write';
  } catch {
    // In time or not: whoever is ordered to die later would be one fault too many.
    ground.orders.clear();
    await kill(host);
    return 'kill';
  } finally {
    ground.orders.clear();
  }
}

/** Beyond its lease: others have taken over what it did when it wakes. */
async function stall(host: Host, forMs: number): Promise<void> {
  host.isStalled = true;
  host.signal('SIGSTOP');
  await sleep(forMs);
  host.signal('SIGCONT');
  host.isStalled = false;
}

/** The name servers fail for the name that certificates are asked for. */
async function withoutNames({ ground, hostname }: Scene, forMs: number): Promise<void> {
  const set = (fault: 'servfail' | null) => ground.lab.call('PUT', '/dns/faults', { name: hostname, fault });
  await set('servfail');
  await sleep(forMs);
  await set(null);
}

/** A small disk of its own in place of the folder, and full: the lab's servers share the disk of this machine. */
async function fill({ ground, console: server }: Scene): Promise<void> {
  const point: Point = { moment: 'after', entry: 'plan running' };
  ground.orders.give(point, 'wait');
  await ground.orders.met(point, 120_000);
  const folder = `${unitRoot}/builds`;
  await server.sh(`mkdir -p ${folder}; mount -t tmpfs -o size=64k,mode=700 none ${folder}
dd if=/dev/zero of=${folder}/.full bs=4k count=20 2> /dev/null || true`);
  ground.orders.letGo(point);
  await sleep(10_000);
  await server.sh(`umount --lazy ${folder}`);
}

export function toldFaults(faults: readonly DrillFault[]): string {
  return faults.map(({ kind }) => kind).join(', ');
}
