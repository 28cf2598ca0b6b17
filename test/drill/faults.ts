/** The faults of a wave, chosen by its seed, and how each is made to happen. They come one after the other. */
import { setTimeout as sleep } from 'node:timers/promises';
import { unitRoot } from '../../src/remote/units/unit-scripts.ts';
import type { Host } from '../faults/hosts.ts';
import { anyOf, type Point } from '../faults/orders.ts';
import { reboot, type Window } from '../faults/troubles.ts';
import type { Random } from '../support/random.ts';
import { until } from '../support/until.ts';
import type { MemberWindow } from './cluster-lanes.ts';
import type { Scene } from './scene.ts';
import type { LaneName } from './tasks.ts';

export type DrillFault = { readonly waitMs: number } & (
  | { readonly kind: 'kill' | 'stall'; readonly host: 0 | 1 }
  /** At the next write of the journal of whatever is at work then. */
  | { readonly kind: 'kill at write'; readonly moment: Point['moment']; readonly which: number }
  | { readonly kind: 'kill both' | 'dockerd' | 'proxy' | 'reboot' | 'disk' }
  | { readonly kind: 'postgres' | 'cut' | 'cut second' | 'git host' | 'names'; readonly forMs: number }
  /** Of a cluster: its power is cut, its Docker is started again, or all of it. */
  | { readonly kind: MemberFault; readonly place: 0 | 1 | 2; readonly forMs: number }
);
type MemberFault = 'cut member' | 'dockerd of member' | 'reboot of member';
export type FaultKind = DrillFault['kind'];

export interface Chances {
  readonly lanes: readonly LaneName[];
  readonly hasOutage: boolean;
}

/** Rare ones once in a while: a reboot costs half a minute of everybody's time. */
export function chooseFaults(random: Random, count: number, { hasOutage, lanes }: Chances): DrillFault[] {
  const rare = random.pick('', '', '', '', '', '', '', 'reboot', 'disk', 'disk');
  const share = lanes.includes('cluster') ? Math.max(0.25, 0.5 / lanes.length) : 0;
  const faults = Array.from({ length: count }, () =>
    share > 0 && random.chance(share) ? memberFault(random) : chooseFault(random, hasOutage),
  );
  const waitMs = random.between(500, 4_000);
  if (rare === 'disk' && lanes.includes('app')) faults[0] = { kind: 'disk', waitMs: 0 };
  if (rare === 'reboot') faults[count - 1] = { kind: 'reboot', waitMs };
  return faults;
}

function chooseFault(random: Random, hasOutage: boolean): DrillFault {
  const kind = random.pick<Exclude<FaultKind, MemberFault>>(
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

/** Swarm calls a server down after a quarter of a minute: some are back before that. */
function memberFault(random: Random): DrillFault {
  const kind = random.pick<MemberFault>(
    ...(['cut member', 'cut member', 'cut member', 'cut member'] as const),
    ...(['dockerd of member', 'dockerd of member', 'reboot of member'] as const),
  );
  const [waitMs, forMs] = [random.between(200, 4_000), random.pick(2_000, 5_000, 10_000, 25_000)];
  return { kind, waitMs, forMs, place: random.pick(0, 1, 2) };
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
  /** For who comes to the cluster. */
  readonly ofMember?: readonly MemberWindow[];
}

/** Ends when it is over, with all processes of the service alive. */
export async function cause(around: Surroundings, fault: DrillFault): Promise<Caused> {
  await sleep(fault.waitMs);
  let kind: FaultKind = fault.kind;
  const { scene } = around;
  const { ground } = scene;
  if ('place' in fault) return { kind, ofMember: await causeOfMember(scene, fault) };
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

/** The proxies of the others stop asking there within two seconds, of a machine that has them to give. */
const noticedMs = 5_000;
/** A deployment that passed meanwhile took its replicas: until its own proxy notices, once, requests there find nobody. */
const caughtUp = { forMs: 60_000, withinMs: 1_500 };

async function causeOfMember(
  { ground, cluster }: Scene,
  { kind, place, forMs }: DrillFault & { kind: MemberFault },
): Promise<MemberWindow[]> {
  const server = cluster?.servers[place];
  if (!server) return [];
  const from = Date.now();
  const afterwards = () => ({
    from,
    to: Date.now() + caughtUp.forMs,
    place,
    withinMs: caughtUp.withinMs,
  });
  if (kind === 'cut member') {
    await ground.lab.cut(server.name);
    await sleep(forMs);
    await ground.lab.heal(server.name);
    return [{ from, to: from + noticedMs }, { from, to: Date.now() + noticedMs, place }, afterwards()];
  }
  // Its containers are stopped one by one until it is down, the proxy among them.
  if (kind === 'dockerd of member') await ground.sh('systemctl restart docker', server);
  else await reboot(ground, server);
  return [{ from, to: Date.now() + noticedMs }, afterwards()];
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
