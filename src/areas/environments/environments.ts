/**
 * Environments: one branch of a project, on one server, with its variables. Owns what is wanted of each, where it stands
 * and what is seen of it there; what runs is compared with it. Variables are sealed, and a secret one is never shown
 * again. Services, domains, releases and deployments belong to environments and know them; environments know nothing of
 * those, and tell them through hooks (`hooks.ts`).
 */
import type { Spread } from '../../engine/release-spec.ts';
import { Fault } from '../../fault.ts';
import type { VariableId, WorkspaceId } from '../../ids.ts';

export type EnvironmentStatus = 'idle' | 'deploying' | 'running' | 'degraded' | 'stopped';
export type VariableTarget = 'build' | 'runtime' | 'both';

/** What the user decided about building and running; what is absent follows the analysis. */
export interface EnvironmentSettings {
  readonly appPath?: string;
  readonly installCommand?: string | null;
  readonly buildCommand?: string | null;
  readonly startCommand?: string | null;
  readonly releaseCommand?: string | null;
  readonly staticOutput?: string | null;
  readonly port?: number;
  readonly healthPath?: string | null;
  readonly dockerfilePath?: string | null;
  /** The stage of the Dockerfile that is run; the last one if not said. */
  readonly dockerfileTarget?: string | null;
  readonly buildMemoryMb?: number | null;
  readonly buildCpus?: number | null;
  readonly replicas?: number;
  readonly spread?: Spread;
  readonly memoryMb?: number | null;
  readonly cpus?: number | null;
  readonly volumes?: readonly { readonly name: string; readonly path: string }[];
  readonly health?: HealthSettings;
  /** How long requests that are under way may take to end before the old release is stopped. */
  readonly drainSeconds?: number;
  /** How long a container may take to end by itself. */
  readonly stopSeconds?: number;
  /** How long a request waits where nobody can take it for now. */
  readonly holdSeconds?: number;
  readonly processes?: Readonly<Record<string, ProcessSettings>>;
}

export interface HealthSettings {
  /** Goes before `healthPath`. */
  readonly path?: string | null;
  readonly port?: number;
  readonly timeoutSeconds?: number;
  readonly startSeconds?: number;
}

/** One of the analysis, changed; or one that it did not find, which needs a command. */
export interface ProcessSettings {
  readonly command?: string;
  readonly replicas?: number;
  readonly schedule?: string;
}

export function environmentNotFound(): Fault {
  return new Fault('not_found', 'No such environment.');
}

export function environmentNameTaken(name: string): Fault {
  return new Fault('name_taken', `The project has an environment named «${name}» already.`, {
    hint: 'Choose another name, or go on with the one that is there: GET /environments lists it.',
    errors: [{ path: 'name', message: 'is the name of another environment of this project' }],
  });
}

export function variablePlace(workspaceId: WorkspaceId, id: VariableId) {
  return { workspaceId, table: 'variables', row: id, column: 'value_sealed' } as const;
}
