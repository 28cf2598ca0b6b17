/** The cron processes of a release, as timers of the server: exactly those, so setting them again changes nothing. */
import { calendarOf } from '../../adapters/timers/calendar.ts';
import { removeTimers, type Started, setTimers } from '../../adapters/timers/timers.ts';
import type { DeploymentId } from '../../ids.ts';
import type { DockerHost } from '../docker-host.ts';
import { appContainer } from '../placement.ts';
import type { RunPlan } from '../release-spec.ts';

/** What a timer starts is named like the first of its process. */
type StartOf = (name: string) => Started;

const startContainer: StartOf = (container) => ({ container });

function cronsOf({ processes }: RunPlan, deploymentId: DeploymentId, startOf: StartOf) {
  return processes.flatMap(({ name, kind, schedule }) =>
    kind === 'cron' && schedule !== null
      ? [{ name, calendar: calendarOf(schedule), starts: startOf(appContainer(deploymentId, name, 1)) }]
      : [],
  );
}

export async function setCrons(
  { placement, remote, fence, signal }: DockerHost,
  run: RunPlan,
  deploymentId: DeploymentId,
  startOf: StartOf = startContainer,
): Promise<void> {
  await setTimers(remote, placement.environmentId, cronsOf(run, deploymentId, startOf), { fence, signal });
}

export async function removeCrons({ placement, remote, fence, signal }: DockerHost): Promise<void> {
  await removeTimers(remote, placement.environmentId, { fence, signal });
}
