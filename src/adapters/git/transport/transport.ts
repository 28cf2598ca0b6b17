/** The way to a repository for one run of git: where it connects to, and how it proves who it is. */
import type { Duplex } from 'node:stream';
import type { Secret } from '../../../secret.ts';
import type { GitUrl } from '../git-url.ts';
import type { Setting } from '../run-git.ts';

export interface Address {
  readonly address: string;
  readonly family: number;
}

/** Guarded: throws for a name that leads where we do not connect to. */
export type Resolve = (hostname: string) => Promise<readonly Address[]>;

export interface Login {
  readonly username: string;
  readonly password: Secret;
}

export interface DeployKey {
  readonly privateKey: Secret;
}

export type Credentials = Login | DeployKey;

export interface Source {
  readonly url: GitUrl;
  readonly credentials: Credentials | undefined;
}

export interface Transport {
  readonly settings: readonly Setting[];
  readonly env: Readonly<Record<string, string>>;
  readonly withChannel: boolean;
  attach(channel: Duplex): void;
  /** What the other side said outside of git's own lines. */
  said(): string;
  readonly secrets: readonly Secret[];
  close(): Promise<void>;
}
