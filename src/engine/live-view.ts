/** The part of the port for people who watch: nothing of it is stored, and nothing of it changes anything. */
import type { ContainerState } from '../adapters/docker/docker.ts';
import type { LogPiece } from '../adapters/log-tap/log-frames.ts';
import type { LogFollower } from '../adapters/log-tap/log-tap.ts';
import type { ServerId } from '../ids.ts';
import type { Secret } from '../secret.ts';

export interface LiveView {
  containers(): Promise<SeenContainer[]>;
  /** Of each of them, as far as it is kept. */
  lastOutput(ids: readonly string[], most: number, secrets: readonly Secret[]): Promise<LogPiece[][]>;
  /** Until what it gives back is called. */
  follow(follower: LogFollower): Promise<() => void>;
}

export interface ShownContainer {
  readonly name: string;
  readonly process: string;
  readonly replica: number;
  readonly deploymentId: string | null;
  readonly serverId: ServerId;
  readonly state: ContainerState['status'];
  readonly restarts: number;
  /** How it ended last; null where it runs. */
  readonly exitCode: number | null;
  readonly isOutOfMemory: boolean;
  readonly startedAt: string | null;
  /** Null where it does not run. */
  readonly memoryBytes: number | null;
  /** The server's own, where it has no limit. */
  readonly memoryLimitBytes: number | null;
}

export interface SeenContainer {
  readonly id: string;
  readonly shown: ShownContainer;
}
