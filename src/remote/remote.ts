/**
 * Work on servers over SSH. Owns the connections, the quoting, and everything that knows SSH; refuses to talk to a
 * host whose key is not the pinned one, to compose a command line from anything but an argument list, and to wait
 * without a limit. Knows nothing of accounts, HTTP or what the commands are for.
 */
import type { Readable, Writable } from 'node:stream';
import type { ServerId } from '../ids.ts';
import type { Secret } from '../secret.ts';

/** `SHA256:` and 43 characters of base64, as OpenSSH prints it. */
export type HostKeyFingerprint = string;

export interface RemoteTarget {
  readonly serverId: ServerId;
  readonly host: string;
  readonly port: number;
  readonly username: string;
  /** OpenSSH private key without a passphrase. */
  readonly privateKey: Secret;
  readonly hostKey: HostKeyFingerprint;
}

export interface RunOptions {
  /** Written to its standard input, which is then closed. */
  readonly input?: string | Buffer | Readable;
  /** Default 60 s. Over it, the channel is closed and the call fails with `remote_timeout`. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Default true: by `sudo -n` where the user is not root. */
  readonly asRoot?: boolean;
  /** Default 4 MiB of each stream; over it the call fails with `remote_failed`. */
  readonly maxOutputBytes?: number;
  /** Taken out of the evidence where the call fails. What it returns is the program's own bytes. */
  readonly secrets?: readonly Secret<string | Buffer>[];
}

/** What is streamed is not buffered, so there is no evidence of it either. */
export type StreamOptions = Omit<RunOptions, 'input' | 'maxOutputBytes' | 'secrets'>;

export interface RemoteOutcome {
  /** Null where a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

export interface RemoteStream {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
}

export interface FileAttributes {
  /** Octal, 0o600 for example. */
  readonly mode: number;
  readonly owner?: string;
  readonly group?: string;
}

/** Long work that outlives this process: a transient systemd unit. */
export interface UnitSpec {
  /** `slipway-…`, made by us from ids; the same name is the same unit. */
  readonly name: string;
  readonly argv: readonly string[];
  readonly input?: Buffer;
  readonly fence?: Fence;
  /** For what reads foreign files outside of any container: together with its children it gets no more than this. */
  readonly memoryMb?: number;
}

/** A server that has seen a higher epoch for this scope refuses, with `remote_fenced`. */
export interface Fence {
  readonly scope: string;
  readonly epoch: number;
}

export type UnitState =
  | { readonly kind: 'absent' }
  | { readonly kind: 'running' }
  | {
      readonly kind: 'ended';
      readonly code: number;
      /** Ended from outside, by a reboot or a kill, without an exit code of its own; it is 255 then. */
      readonly lost?: true;
    };

export interface UnitOutput {
  readonly state: UnitState;
  /** What it has printed (both streams) from `from` on, and the next offset. */
  readonly bytes: Buffer;
  readonly next: number;
}

/** A socket of the server by its path, or an address that the server can reach. */
export type SocketAddress = { readonly path: string } | { readonly host: string; readonly port: number };

/** Bytes to a socket, and its reply until it closes, or until an HTTP response is complete. */
export interface Exchange {
  readonly to: SocketAddress;
  readonly send: string | Buffer;
  /** A pattern of ours that the reply has to match; where it does not, the exchanges after it are skipped. Default: any. */
  readonly expect?: string;
  /** Repeats it until the pattern matches, or the time is up: after 10 ms, then in pauses that widen to `everyMs`. */
  readonly until?: { readonly everyMs: number; readonly forMs: number };
  /** For one attempt; default 30 s. */
  readonly timeoutMs?: number;
  /** Default 1 MiB; the rest is not read. 0: it is enough that the bytes are accepted. */
  readonly maxBytes?: number;
}

export interface RelayAttempt {
  /** Since the exchange began. */
  readonly atMs: number;
  readonly isMet: boolean;
  /** `connect:Connection refused`, for example; null where there was an answer. */
  readonly problem: string | null;
  readonly bytes: Buffer;
}

export interface RelayReply {
  readonly tries: readonly RelayAttempt[];
  readonly last: RelayAttempt;
}

/** A constant script, as for `Remote.script`. */
export interface FirstScript {
  readonly text: string;
  readonly args: readonly string[];
  readonly input?: string;
  /** What it means that it failed; by default the call fails as `Remote.script` does. */
  readonly failure?: (outcome: RemoteOutcome) => Error | undefined;
}

export interface RelayOptions {
  /** Claimed in the same round trip, before the first exchange. */
  readonly fence?: Fence;
  /** Run ahead of the first exchange, in the same round trip. Where it fails, nothing is exchanged. */
  readonly first?: FirstScript;
  readonly signal?: AbortSignal;
  readonly secrets?: readonly Secret<string | Buffer>[];
}

export interface Remote {
  /** Of the thing that is worked on: they are taken out of everything that a call complains of, whoever makes it. */
  readonly secrets: readonly Secret<string | Buffer>[];
  /** Runs it to its end, however that ends. */
  run(argv: readonly string[], options?: RunOptions): Promise<RemoteOutcome>;
  /** Its output; fails with `remote_failed` and the last lines it printed unless it succeeds. */
  output(argv: readonly string[], options?: RunOptions): Promise<Buffer>;
  /**
   * A constant script for `sh -eu`, with its data as `$1`, `$2` … or by `input`; as `output`. Its text is not an argument:
   * the server's logs and its list of processes do not show it. They do show the data, so no secret belongs there.
   */
  script(text: string, args: readonly string[], options?: RunOptions): Promise<Buffer>;
  /**
   * Talks to sockets of the server, one after the other, in one round trip. There are as many replies as exchanges were
   * begun: the first that is not as expected is the last.
   */
  relay(exchanges: readonly Exchange[], options?: RelayOptions): Promise<RelayReply[]>;
  /** Both ways at once, with back-pressure. The channel is held until it ends. */
  stream(argv: readonly string[], options?: StreamOptions): Promise<RemoteStream>;
  /** Atomic: written to a temporary file with its mode and owner, synced, then renamed. */
  writeFile(path: string, content: string | Buffer, attributes: FileAttributes): Promise<void>;
  /** Undefined where there is none. */
  readFile(path: string, options?: { readonly maxBytes?: number }): Promise<Buffer | undefined>;
  /**
   * Starts it unless it is there already, running or ended, and reads its output from the beginning, as `readUnit` does. Of
   * what it prints, the beginning and the end are kept.
   */
  startUnit(spec: UnitSpec, waitMs?: number): Promise<UnitOutput>;
  /** Waits up to `waitMs` for more output or the end. */
  readUnit(name: string, from: number, waitMs?: number): Promise<UnitOutput>;
  /**
   * Stops it with all its children, and removes its output; confirmed, not assumed. With a fence, a replaced worker cannot
   * stop what its successor follows.
   */
  stopUnit(name: string, fence?: Fence): Promise<void>;
  /** Claims the scope for this epoch; fails with `remote_fenced` where the server has seen a higher one. */
  fence(scope: string, epoch: number): Promise<void>;
}

/** One connection a server, shared by all who work on it. */
export interface RemotePool {
  /** The connection is opened on first use, and reopened when it breaks. */
  to(target: RemoteTarget): Remote;
  /** Closes what is open to it: its key or address has changed, or it is gone. */
  drop(serverId: ServerId): void;
  close(): Promise<void>;
}
