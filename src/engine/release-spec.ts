/** What an engine runs: the image of a release, how its processes run, and their variables. */
import type { DeploymentId, ReleaseId } from '../ids.ts';
import type { Secret } from '../secret.ts';

export interface RunProcess {
  readonly name: string;
  readonly kind: 'worker' | 'cron';
  readonly command: string;
  /** Of a cron process. */
  readonly schedule: string | null;
  readonly replicas: number;
}

/** Over the servers of a cluster: as many on each, or on as few as their memory allows. */
export type Spread = 'even' | 'packed';

/** How the containers of a release are run. Everything is said: nothing is looked up again when it is put back. */
export interface RunPlan {
  readonly port: number;
  readonly health: {
    /** Null: it is enough that the port is open. */
    readonly path: string | null;
    /** Where it is asked, if not at the port of the app. */
    readonly port: number | null;
    readonly timeoutSeconds: number;
    readonly startSeconds: number;
  };
  /** In place of what the image starts by itself. */
  readonly startCommand: string | null;
  readonly releaseCommand: string | null;
  readonly processes: readonly RunProcess[];
  readonly replicas: number;
  /** Releases of before do not say: they are even. */
  readonly spread?: Spread;
  readonly memoryMb: number | null;
  readonly cpus: number | null;
  readonly volumes: readonly { readonly name: string; readonly path: string }[];
  readonly drainSeconds: number;
  readonly stopSeconds: number;
  readonly holdSeconds: number;
  /** Its image names no user: it begins as root, and may need to become someone else. */
  readonly isRoot: boolean;
  /** Variables that are no secret: they may stand in a log. */
  readonly plainKeys: readonly string[];
  /** Variables that the app expects of a service, such as `DB_HOST`. */
  readonly askedOfServices: readonly string[];
  /** Variables that its code cannot do without; releases of before do not say. */
  readonly requiredKeys?: readonly string[];
}

/** Before the image is known, which may say the port that it listens on, and as whom it runs. */
export interface PlannedRun extends Omit<RunPlan, 'port' | 'isRoot'> {
  readonly port: number | null;
  readonly isRoot: boolean | null;
}

export interface ReleaseSpec {
  readonly id: ReleaseId;
  readonly imageDigest: string;
  readonly run: RunPlan;
  readonly variables: ReadonlyMap<string, Secret>;
}

/** The process that serves visitors; the others run beside it. */
export const webProcess = 'web';

/** A release as one deployment runs it. */
export interface ReleaseStart {
  readonly release: ReleaseSpec;
  readonly deploymentId: DeploymentId;
  /** Those that are taken on the environment's network. */
  readonly takenAddresses: ReadonlySet<string>;
}

/**
 * Whether the old release has to be gone before the new one starts: two that write to one volume at a time would spoil
 * it. Requests wait meanwhile.
 */
export function requiresRecreate(run: RunPlan): boolean {
  return run.volumes.length > 0;
}

/** What must not be seen of a release in what it prints. */
export function secretsOf({ run, variables }: Pick<ReleaseSpec, 'run' | 'variables'>): Secret[] {
  const plain = new Set(run.plainKeys);
  return [...variables].filter(([key]) => !plain.has(key)).map(([, value]) => value);
}

export function hasCrons({ processes }: Pick<RunPlan, 'processes'>): boolean {
  return processes.some(({ kind }) => kind === 'cron');
}
