/**
 * Docker on a server, over its own API: no command line is composed, a user's string is a value in JSON. Owns how it is
 * asked, and how a container is closed off; refuses to publish a port. Many calls travel in one round trip.
 */
import type { Fence, FirstScript, Remote } from '../../remote/remote.ts';
import type { Secret } from '../../secret.ts';

/** One request to the API. `ok` are the answers that are as good as done: made already, gone already. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  readonly ok: readonly number[];
  readonly timeoutMs?: number;
}

export interface Reply {
  readonly status: number;
  /** Parsed where it is JSON, bytes otherwise. */
  readonly body: unknown;
  readonly bytes: Buffer;
}

export interface SendOptions {
  readonly fence?: Fence;
  /** Ahead of the calls, in the same round trip. */
  readonly first?: FirstScript;
  readonly signal?: AbortSignal;
  readonly secrets?: readonly Secret<string | Buffer>[];
}

export type Ask = (remote: Remote, calls: readonly Call[], options?: SendOptions) => Promise<Reply[]>;

export interface ContainerSpec {
  readonly name: string;
  /** A reference, or the id of an image. */
  readonly image: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly network: string;
  readonly address?: string;
  readonly aliases?: readonly string[];
  readonly environment: ReadonlyMap<string, Secret>;
  /** An argument list; the image's own if not said. */
  readonly command?: readonly string[];
  /** Instead of the image's own entry point. */
  readonly entrypoint?: readonly string[];
  readonly user?: string;
  readonly memoryMb: number;
  readonly cpus: number;
  /** The control group that bounds all containers together: `container-group.ts`. */
  readonly cgroupParent: string;
  readonly pidsLimit?: number;
  /** How soon it is ended where the memory of all is used up: the higher, the sooner. Above the system's own at least. */
  readonly oomScoreAdj?: number;
  readonly volumes?: readonly { readonly volume: string; readonly path: string }[];
  readonly restart: 'unless-stopped' | 'no';
  /** How long it may take after SIGTERM. */
  readonly stopSeconds: number;
  /** Beyond none at all: what databases need to take their folder over. */
  readonly capabilities?: readonly string[];
}

export interface ContainerState {
  readonly name: string;
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly status: 'created' | 'running' | 'restarting' | 'paused' | 'exited' | 'dead' | 'removing';
  readonly exitCode: number;
  readonly isOutOfMemory: boolean;
  readonly restarts: number;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  /** On the host; 0 where it does not run. */
  readonly pid: number;
  readonly address: string | null;
  readonly image: string;
}
