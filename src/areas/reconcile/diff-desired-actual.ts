/** What should run of an environment beside what does: pure, so that every odd state can be tried. */
import type { Endpoint, InstanceState, SeenFront } from '../../engine/engine.ts';
import { appContainer } from '../../engine/placement.ts';
import { type RunPlan, webProcess } from '../../engine/release-spec.ts';
import type { DeploymentId } from '../../ids.ts';

/** Of each container at the last look, by its name. */
export type Observed = Readonly<
  Record<string, { readonly restarts: number; readonly startedAt: string | null }>
>;

export type Difference =
  | { readonly kind: 'well' }
  /** Something is gone, stopped or left behind that can be put right. */
  | { readonly kind: 'missing'; readonly what: readonly string[] }
  /** It ended by itself since the last look; Docker has started it again, or is trying. */
  | {
      readonly kind: 'crashed';
      readonly container: InstanceState;
      /** What else runs must not go without visitors until it no longer crashes. */
      readonly isFrontAmiss: boolean;
    };

export function desiredInstances(run: RunPlan, deploymentId: DeploymentId): string[] {
  const names = (process: string, replicas: number) =>
    Array.from({ length: replicas }, (_, index) => appContainer(deploymentId, process, index + 1));
  const workers = run.processes.filter(({ kind }) => kind === 'worker');
  return [names(webProcess, run.replicas), ...workers.map((each) => names(each.name, each.replicas))].flat();
}

export interface Actual {
  readonly containers: ReadonlyMap<string, InstanceState>;
  readonly front: SeenFront | undefined;
  readonly isProxyRunning: boolean;
  /** What else is not as it should be: services, and what was left behind. */
  readonly alsoWrong: readonly string[];
}

export function diffDesiredActual(
  run: RunPlan,
  deploymentId: DeploymentId,
  { containers, front, isProxyRunning, alsoWrong }: Actual,
  before: Observed,
): Difference {
  const missing = [...alsoWrong];
  // Which servers it lists is not asked here: one that crashes has no address at times.
  const isFrontAmiss = isProxyRunning && !front?.agrees;
  for (const name of desiredInstances(run, deploymentId)) {
    const container = containers.get(name);
    if (container && hasCrashed(container, before[name])) {
      return { kind: 'crashed', container, isFrontAmiss };
    }
    if (container?.status !== 'running') missing.push(name);
  }
  if (!isProxyRunning) missing.push('proxy');
  else if (!front || !serves(front, webServers(run, deploymentId, containers))) missing.push('front');
  return missing.length > 0 ? { kind: 'missing', what: missing } : { kind: 'well' };
}

/** A restart by hand, or of the whole server, does not count up. What was before the first look was the deployment's. */
function hasCrashed({ restarts, status }: InstanceState, before: Observed[string] | undefined): boolean {
  return status === 'restarting' || (before !== undefined && restarts > before.restarts);
}

/** Where the web process runs now. */
export function webServers(
  run: RunPlan,
  deploymentId: DeploymentId,
  containers: Actual['containers'],
): Endpoint[] {
  return Array.from({ length: run.replicas }, (_, index) =>
    appContainer(deploymentId, webProcess, index + 1),
  ).flatMap((name) => {
    const { address = null, port = run.port } = containers.get(name) ?? {};
    return address === null ? [] : [{ name, address, port }];
  });
}

function serves({ agrees, file }: SeenFront, servers: readonly Endpoint[]): boolean {
  const key = ({ name, address, port }: Endpoint) => `${name} ${address}:${port}`;
  const listed = (file?.servers ?? []).map(key).sort().join('\n');
  return agrees && file?.state === 'serving' && listed === servers.map(key).sort().join('\n');
}

export function observedOf(containers: ReadonlyMap<string, InstanceState>): Observed {
  return Object.fromEntries(
    [...containers].map(([name, { restarts, startedAt }]) => [name, { restarts, startedAt }]),
  );
}
