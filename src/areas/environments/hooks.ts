/**
 * What other areas do with an environment when it is made, moved or removed, and what they show of it. Those areas know
 * environments and register here; environments know none of them. In the order of registration, removal in the opposite.
 */
import type Type from 'typebox';
import type { AnalysisResult, App, ServiceKind } from '../../analysis/result.ts';
import type { Target } from '../../engine/engine.ts';
import type { DeploymentStatus } from '../../events/event-kinds.ts';
import type {
  DeploymentId,
  DomainId,
  EnvironmentDomainId,
  EnvironmentId,
  ServerId,
  ServiceId,
  WorkspaceId,
} from '../../ids.ts';
import type { OperationFault } from '../../operations/operations.ts';
import type { Queryable } from '../../store/database.ts';
import type { ShownFault } from '../../wire.ts';
import type { EnvironmentState } from './environment-state.ts';

export type EnvironmentHooks = readonly EnvironmentHook[];

export interface EnvironmentHook {
  /** In the transaction that makes it. */
  readonly created?: (tx: Queryable, environment: CreatedEnvironment) => Promise<void>;
  /** What the area shows of environments, for several at once. */
  readonly show?: (
    db: Queryable,
    workspaceId: WorkspaceId,
    ids: readonly EnvironmentId[],
  ) => Promise<ReadonlyMap<EnvironmentId, Partial<EnvironmentParts>>>;
  /** Its data on servers: a move would leave it there, a removal could delete it. */
  readonly data?: (
    db: Queryable,
    workspaceId: WorkspaceId,
    environment: EnvironmentState,
  ) => Promise<readonly HeldData[]>;
  /** It goes to another server, and its data stays behind. */
  readonly leaveData?: (
    tx: Queryable,
    workspaceId: WorkspaceId,
    id: EnvironmentId,
    serverId: ServerId | null,
  ) => Promise<void>;
  /** It is to be removed: ends the work on it, before anything is locked. */
  readonly cancelWork?: (workspaceId: WorkspaceId, id: EnvironmentId) => Promise<void>;
  /** Off one of its servers. */
  readonly takeDown?: (target: Target, removal: DataRemoval) => Promise<void>;
  /** In the transaction that deletes it, before its row goes. */
  readonly removed?: (
    tx: Queryable,
    workspaceId: WorkspaceId,
    environment: EnvironmentState,
    removal: DataRemoval,
  ) => Promise<void>;
}

export interface DataRemoval {
  readonly deleteData: boolean;
}

/** A service as it is asked for with an environment. */
export interface WantedService {
  readonly kind: ServiceKind;
  readonly version?: string;
  readonly name?: string;
  readonly storage?: string;
  readonly memoryMb?: number;
}

export interface CreatedEnvironment {
  readonly workspaceId: WorkspaceId;
  readonly id: EnvironmentId;
  /** Undefined: those that the analysis calls needed. */
  readonly services: readonly WantedService[] | undefined;
  readonly result: AnalysisResult;
  readonly app: App | undefined;
}

export interface HeldData {
  /** `services/main-db`, `volumes/uploads`. */
  readonly path: string;
  /** Null where nobody knows of a server that it is on. */
  readonly serverId: ServerId | null;
}

export interface EnvironmentParts {
  readonly services: readonly EnvironmentService[];
  /** The first of its names. */
  readonly domain: EnvironmentDomain | null;
  readonly lastDeployment: LastDeployment | null;
}

/** The newest, whatever became of it. */
export interface LastDeployment {
  readonly id: DeploymentId;
  readonly number: number;
  readonly status: Type.Static<typeof DeploymentStatus>;
  readonly message: string | null;
  readonly queuedAt: string;
  readonly finishedAt: string | null;
}

export interface EnvironmentService {
  readonly id: ServiceId;
  readonly kind: ServiceKind;
  readonly name: string;
  readonly version: string;
  readonly memoryMb: number;
  readonly storage: string | null;
  readonly status: 'pending' | 'starting' | 'running' | 'failed' | 'stopped' | 'removed';
  readonly problem: ShownFault | null;
}

export interface EnvironmentDomain {
  readonly id: EnvironmentDomainId;
  readonly environmentId: EnvironmentId;
  readonly domainId: DomainId;
  readonly hostname: string;
  readonly redirectHttp: boolean;
  readonly www: 'none' | 'redirect_to_apex' | 'redirect_to_www';
  readonly hstsSeconds: number | null;
  readonly url: string;
  readonly ssl: { readonly mode: 'auto' | 'custom' | 'off' };
  readonly certificate: {
    readonly status: 'none' | 'pending' | 'issued' | 'failed';
    readonly issuer: string | null;
    readonly fault: OperationFault | null;
    readonly notAfter: string | null;
  };
  readonly createdAt: string;
}

export async function dataOf(
  db: Queryable,
  hooks: EnvironmentHooks,
  workspaceId: WorkspaceId,
  environment: EnvironmentState,
): Promise<HeldData[]> {
  const held: HeldData[] = [];
  for (const hook of hooks) held.push(...((await hook.data?.(db, workspaceId, environment)) ?? []));
  return held;
}
