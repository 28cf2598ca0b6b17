/** What is asked of the service in a wave, chosen by its seed before anything begins: lanes that run beside each other. */
import type { Random } from '../support/random.ts';

export const laneNames = ['app', 'data', 'side', 'project', 'server', 'cluster'] as const;
export type LaneName = (typeof laneNames)[number];

export type AppTask =
  | { readonly kind: 'deploy' | 'redeploy' | 'rollback' | 'broken build' | 'crashing' }
  | { readonly kind: 'cancel'; readonly afterMs: number };
export type DataTask =
  | { readonly kind: 'backup' | 'import' | 'services' | 'deploy' }
  | { readonly kind: 'restore'; readonly safetyBackup: boolean };
export type SideTask = { readonly kind: 'stop and start' | 'name' | 'deploy' };
export type ProjectTask =
  | { readonly kind: 'analysis' | 'project' }
  | { readonly kind: 'environment'; readonly hastily: boolean };
export type ServerTask = { readonly kind: 'provision' | 'harden' | 'again' };
/** A member is drained and taken back, or leaves and joins again. */
export type MemberTask = { readonly kind: 'drain' | 'leave and join'; readonly place: 0 | 1 | 2 };

export interface Tasks {
  readonly app: readonly AppTask[];
  readonly data: readonly DataTask[];
  readonly side: readonly SideTask[];
  readonly project: readonly ProjectTask[];
  readonly server: readonly ServerTask[];
  /** Two lanes on one cluster. */
  readonly cluster: readonly AppTask[];
  readonly members: readonly MemberTask[];
}

/** Where a disk is to be full, only the one environment builds: what others have on that disk would be hidden. */
export function chooseTasks(random: Random, lanes: readonly LaneName[], isDiskFull: boolean): Tasks {
  const lane = <T>(name: LaneName, share: number, choose: () => T[]): T[] => {
    const [isIn, chosen] = [random.chance(share), choose()];
    return lanes.includes(name) && isIn ? chosen : [];
  };
  return {
    app: lane('app', 1, () =>
      several(() => appTask(random)).map((task, index) =>
        isDiskFull && index === 0 ? { kind: 'deploy' } : task,
      ),
    ),
    data: lane('data', 0.85, () => several(() => dataTask(random, isDiskFull))),
    side: lane('side', 0.6, () => several(() => sideTask(random, isDiskFull))),
    project: lane('project', 0.5, () => several(() => projectTask(random, isDiskFull))),
    // Hardening takes longer than all else: only at the beginning, or everybody would wait for it.
    server: lane('server', 0.4, () => {
      const first: ServerTask[] = random.chance(0.4) ? [{ kind: 'harden' }] : [];
      return [...first, ...several(() => serverTask(random))];
    }),
    cluster: lane('cluster', 0.85, () => (isDiskFull ? [] : several(() => appTask(random)))),
    members: lane('cluster', 0.5, () => several(() => memberTask(random))),
  };
}

/** More than there is time for: no lane begins another one when the last fault of the wave is over. */
function several<T>(choose: () => T): T[] {
  return Array.from({ length: 30 }, choose);
}

function serverTask(random: Random): ServerTask {
  return { kind: random.pick('provision', 'again') };
}

function memberTask(random: Random): MemberTask {
  return { kind: random.pick('drain', 'drain', 'leave and join'), place: random.pick(0, 1, 2) };
}

function appTask(random: Random): AppTask {
  const kind = random.pick(
    ...(['deploy', 'deploy', 'deploy', 'redeploy', 'rollback', 'cancel'] as const),
    ...(['broken build', 'crashing'] as const),
  );
  const afterMs = random.between(0, 12_000);
  return kind === 'cancel' ? { kind, afterMs } : { kind };
}

function dataTask(random: Random, isDiskFull: boolean): DataTask {
  const kind = random.pick(
    ...(['backup', 'backup', 'backup', 'restore', 'restore', 'restore', 'import', 'services'] as const),
    isDiskFull ? 'backup' : 'deploy',
  );
  const safetyBackup = random.chance(0.4);
  return kind === 'restore' ? { kind, safetyBackup } : { kind };
}

function sideTask(random: Random, isDiskFull: boolean): SideTask {
  return {
    kind: random.pick('stop and start', 'stop and start', 'name', 'name', isDiskFull ? 'name' : 'deploy'),
  };
}

function projectTask(random: Random, isDiskFull: boolean): ProjectTask {
  const kind = random.pick('analysis', 'project', isDiskFull ? 'analysis' : 'environment');
  const hastily = random.chance(0.5);
  return kind === 'environment' ? { kind, hastily } : { kind };
}
