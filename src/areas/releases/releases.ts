/**
 * Releases: what was built, with how it runs and the variables of that time. Owns them, and everything that puts one
 * into service on a server or takes it out again: containers, health, the proxy's site. A release is never changed;
 * which of them is live is the environment's to say.
 */
import type { EnvironmentId, ReleaseId, WorkspaceId } from '../../ids.ts';
import type { Secret } from '../../secret.ts';
import type { Queryable } from '../../store/database.ts';
import type { Sealer } from '../../store/sealed.ts';
import * as queries from './queries.ts';
import { readVariables } from './sealed-variables.ts';

export interface ReleasedCommit {
  readonly sha: string;
  readonly message: string;
  readonly author: string;
  readonly branch: string | null;
}

export interface RunProcess {
  readonly name: string;
  readonly kind: 'worker' | 'cron';
  readonly command: string;
  /** Of a cron process. */
  readonly schedule: string | null;
  readonly replicas: number;
}

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
}

/** Before the image is known, which may say the port that it listens on, and as whom it runs. */
export interface PlannedRun extends Omit<RunPlan, 'port' | 'isRoot'> {
  readonly port: number | null;
  readonly isRoot: boolean | null;
}

export interface Release {
  readonly id: ReleaseId;
  readonly environmentId: EnvironmentId;
  readonly image: string;
  readonly imageDigest: string;
  readonly buildKey: string;
  readonly commit: ReleasedCommit;
  readonly run: RunPlan;
  readonly variables: ReadonlyMap<string, Secret>;
}

/**
 * Whether the old release has to be gone before the new one starts: two that write to one volume at a time would spoil
 * it. Requests wait meanwhile.
 */
export function mustSwap(run: RunPlan): boolean {
  return run.volumes.length > 0;
}

/** What must not be seen of a release in what it prints. */
export function secretsOf({ run, variables }: Pick<Release, 'run' | 'variables'>): Secret[] {
  const plain = new Set(run.plainKeys);
  return [...variables].filter(([key]) => !plain.has(key)).map(([, value]) => value);
}

export function variablesPlace(workspaceId: WorkspaceId, id: ReleaseId) {
  return { workspaceId, table: 'releases', row: id, column: 'variables_sealed' } as const;
}

export async function readRelease(
  db: Queryable,
  sealer: Sealer,
  workspaceId: WorkspaceId,
  id: ReleaseId,
): Promise<Release> {
  const row = await queries.findRelease(db, workspaceId, id);
  if (!row) throw new Error('a release that is pointed to is not there');
  const { variablesSealed, ...release } = row;
  const opened = await sealer.open(db, variablesPlace(workspaceId, id), variablesSealed);
  return { ...release, variables: readVariables(opened) };
}
