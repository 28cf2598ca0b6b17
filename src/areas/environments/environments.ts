/**
 * Environments: one branch of a project, on one server, with its variables and services. Owns what is wanted of each;
 * what runs is compared with it. Variables are sealed, and a secret one is never shown again.
 */
import type { ServiceKind } from '../../analysis/result.ts';
import { Fault } from '../../fault.ts';
import type { VariableId, WorkspaceId } from '../../ids.ts';

export type EnvironmentStatus = 'idle' | 'deploying' | 'running' | 'degraded' | 'stopped';

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
}

export interface WantedService {
  readonly kind: ServiceKind;
  readonly version?: string;
  readonly name?: string;
  readonly storage?: string;
  readonly memoryMb?: number;
}

export function notFound(): Fault {
  return new Fault('not_found', 'There is no such environment of yours.');
}

export function variablePlace(workspaceId: WorkspaceId, id: VariableId) {
  return { workspaceId, table: 'variables', row: id, column: 'value_sealed' } as const;
}
