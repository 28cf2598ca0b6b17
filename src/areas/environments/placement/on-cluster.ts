/** What an environment may not have on a cluster: what keeps data on one server, and what must run once. */
import type { PlannedRun } from '../../../engine/release-spec.ts';
import { Fault, type FieldError } from '../../../fault.ts';
import type { WorkspaceId } from '../../../ids.ts';
import type { Queryable } from '../../../store/database.ts';
import type { EnvironmentState } from '../environment-state.ts';
import type { EnvironmentSettings } from '../environments.ts';
import type { EnvironmentHooks } from '../hooks.ts';

export function settingsNotOnCluster({
  volumes = [],
  health,
  processes = {},
}: EnvironmentSettings): FieldError[] {
  return [
    ...(volumes.length > 0 ? [{ path: 'settings.volumes', message: noVolumes }] : []),
    ...(health?.port === undefined ? [] : [{ path: 'settings.health.port', message: noHealthPort }]),
    ...Object.entries(processes).flatMap(([name, { schedule }]) =>
      schedule === undefined ? [] : [{ path: `settings.processes.${name}.schedule`, message: noCrons }],
    ),
  ];
}

const noVolumes = 'must be empty on a cluster: a volume is on one server, and replicas run on all of them';
const noHealthPort =
  'must not be set on a cluster: only the port of the app itself is reached from other servers';
const noCrons = 'must not be set on a cluster: a cron process would have to run on one of its servers';

/** Of what a commit would run as: the repository may bring what no setting names. */
export function refuseRunOnCluster({ volumes, health, processes }: PlannedRun): void {
  refuse([
    ...settingsNotOnCluster({
      volumes,
      ...(health.port !== null && { health: { port: health.port } }),
    }),
    ...processes.flatMap(({ name, kind }) =>
      kind === 'cron' ? [{ path: `settings.processes.${name}`, message: noCrons }] : [],
    ),
  ]);
}

export async function refuseOnCluster(
  tx: Queryable,
  hooks: EnvironmentHooks,
  workspaceId: WorkspaceId,
  environment: EnvironmentState,
): Promise<void> {
  const errors = settingsNotOnCluster(environment.settings);
  for (const hook of hooks) errors.push(...((await hook.notOnCluster?.(tx, workspaceId, environment)) ?? []));
  refuse(errors);
}

export function refuse(errors: readonly FieldError[]): void {
  const [first] = errors;
  if (!first) return;
  throw new Fault('not_on_cluster', `This cannot run on a cluster: ${first.path} ${first.message}.`, {
    hint: 'Place the environment on a server, or take out what `errors` names. A database elsewhere is reached by its address in a variable.',
    evidence: errors.map(({ path, message }) => `${path} ${message}`).join('\n'),
    errors,
  });
}
