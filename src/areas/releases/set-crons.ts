/** The cron processes of a release, as timers of the server: exactly those, so setting them again changes nothing. */
import { calendarOf } from '../../adapters/timers/calendar.ts';
import { removeTimers, setTimers } from '../../adapters/timers/timers.ts';
import type { DeploymentId } from '../../ids.ts';
import { appContainer, type Site } from '../environments/place.ts';
import type { RunPlan } from './releases.ts';

function cronsOf({ processes }: RunPlan, deploymentId: DeploymentId) {
  return processes.flatMap(({ name, kind, schedule }) =>
    kind === 'cron' && schedule !== null
      ? [{ name, calendar: calendarOf(schedule), container: appContainer(deploymentId, name, 1) }]
      : [],
  );
}

export async function setCrons(
  { place, remote, fence, signal }: Site,
  run: RunPlan,
  deploymentId: DeploymentId,
): Promise<void> {
  await setTimers(remote, place.environmentId, cronsOf(run, deploymentId), { fence, signal });
}

export async function endCrons({ place, remote, fence, signal }: Site): Promise<void> {
  await removeTimers(remote, place.environmentId, { fence, signal });
}

export function hasCrons({ processes }: RunPlan): boolean {
  return processes.some(({ kind }) => kind === 'cron');
}
