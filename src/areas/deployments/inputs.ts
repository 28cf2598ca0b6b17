/**
 * The inputs of a deployment: what is built, how it runs, and the variables of both. `plan` decides them once and stores
 * them sealed; every later step reads only these, so that a change made meanwhile belongs to the next deployment. They
 * are removed when the deployment ends: what lasts of them is the release.
 */
import type { PlannedRun } from '../../engine/release-spec.ts';
import type { DeploymentId, ReleaseId, WorkspaceId } from '../../ids.ts';
import { Secret } from '../../secret.ts';
import type { Queryable } from '../../store/database.ts';
import type { Sealer } from '../../store/sealed.ts';
import type { BuildSource } from './plan.ts';
import * as queries from './queries.ts';

export interface DeploymentInputs {
  /** What the release calls it. Its tag is the build key: the same files and settings are the same image. */
  readonly image: string;
  readonly buildKey: string;
  /** Null where an older release is put back whose image is there. */
  readonly build: BuildSpec | null;
  readonly release: ReleaseInputs;
}

export interface BuildSpec {
  readonly source: BuildSource;
  /** Generated; empty where the app brings its own. */
  readonly dockerfile: string;
  readonly dockerignore: string;
  readonly buildArgs: Readonly<Record<string, string>>;
  readonly secrets: ReadonlyMap<string, Secret>;
  readonly cpus: number;
  readonly memoryMb: number;
}

/** A new release, or an earlier one just as it was. */
export type ReleaseInputs =
  | { readonly kind: 'new'; readonly run: PlannedRun; readonly variables: ReadonlyMap<string, Secret> }
  | { readonly kind: 'earlier'; readonly id: ReleaseId };

/** As it is sealed. Nobody else can have written it: what was altered does not open. */
interface PlainInputs extends Omit<DeploymentInputs, 'build' | 'release'> {
  readonly build: (Omit<BuildSpec, 'secrets'> & { readonly secrets: PlainValues }) | null;
  readonly release:
    | { readonly kind: 'new'; readonly run: PlannedRun; readonly variables: PlainValues }
    | { readonly kind: 'earlier'; readonly id: ReleaseId };
}

type PlainValues = readonly (readonly [key: string, value: string])[];

export async function storeInputs(
  tx: Queryable,
  sealer: Sealer,
  workspaceId: WorkspaceId,
  id: DeploymentId,
  { build, release, ...inputs }: DeploymentInputs,
): Promise<void> {
  const plain: PlainInputs = {
    ...inputs,
    build: build && { ...build, secrets: revealed(build.secrets) },
    release: release.kind === 'new' ? { ...release, variables: revealed(release.variables) } : release,
  };
  const place = inputsPlace(workspaceId, id);
  const sealed = await sealer.seal(tx, place, new Secret(JSON.stringify(plain)));
  await queries.setInputs(tx, workspaceId, id, sealed);
}

export async function openInputs(
  db: Queryable,
  sealer: Sealer,
  workspaceId: WorkspaceId,
  id: DeploymentId,
): Promise<DeploymentInputs> {
  const row = await queries.findInputs(db, workspaceId, id);
  if (!row?.inputsSealed) throw new Error('a deployment that was planned has no inputs');
  const opened = await sealer.open(db, inputsPlace(workspaceId, id), row.inputsSealed);
  const { build, release, ...inputs }: PlainInputs = JSON.parse(opened.reveal());
  return {
    ...inputs,
    build: build && { ...build, secrets: hidden(build.secrets) },
    release: release.kind === 'new' ? { ...release, variables: hidden(release.variables) } : release,
  };
}

function revealed(values: ReadonlyMap<string, Secret>): PlainValues {
  return [...values].map(([key, value]) => [key, value.reveal()]);
}

function hidden(values: PlainValues): Map<string, Secret> {
  return new Map(values.map(([key, value]) => [key, new Secret(value)]));
}

function inputsPlace(workspaceId: WorkspaceId, id: DeploymentId) {
  return { workspaceId, table: 'deployments', row: id, column: 'inputs_sealed' } as const;
}
