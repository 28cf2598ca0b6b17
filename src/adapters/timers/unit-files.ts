/** The two files of a timer: when it fires, and which container that starts. Nothing of a user's gets into them. */
import { Fault } from '../../fault.ts';
import type { EnvironmentId } from '../../ids.ts';

export interface Timer {
  /** Made by us, for people who look at the server. */
  readonly name: string;
  /** Expressions of systemd, from `calendarOf`. */
  readonly calendar: readonly string[];
  /** Is there, and stopped: it is started again each time, never twice at once. */
  readonly container: string;
}

export interface UnitFiles {
  readonly unit: string;
  readonly timer: string;
  readonly service: string;
}

/** Several timers of one moment should not start in the same instant. */
const spreadSeconds = 2;
const stopSeconds = 30;

export function unitFilesOf(owner: EnvironmentId, timers: readonly Timer[]): UnitFiles[] {
  mustMatch('owner', owner, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  return timers.map((each, index) => filesOf(owner, each, `slipway-cron-${owner}-${index}`));
}

function filesOf(owner: EnvironmentId, { name, calendar, container }: Timer, unit: string): UnitFiles {
  // No percent sign, no space, no line end: a unit file would read more into them.
  mustMatch('name', name, /^[A-Za-z0-9][A-Za-z0-9_.-]{0,199}$/);
  mustMatch('container', container, /^slipway-[A-Za-z0-9_.-]{1,199}$/);
  for (const each of calendar) mustMatch('calendar', each, /^[A-Za-z0-9*][A-Za-z0-9*,:./ ~-]{0,999}$/);
  if (calendar.length === 0) mustMatch('calendar', '', /./);
  const head = ['# slipway: cron', `# slipway.environment: ${owner}`, `# slipway.container: ${container}`];
  const timer = [
    ...head,
    '[Unit]',
    `Description=Slipway cron ${name}`,
    '',
    '[Timer]',
    ...calendar.map((each) => `OnCalendar=${each}`),
    'Persistent=false',
    'AccuracySec=1s',
    `RandomizedDelaySec=${spreadSeconds}`,
    `Unit=${unit}.service`,
    '',
    '[Install]',
    'WantedBy=timers.target',
  ];
  const service = [
    ...head,
    '[Unit]',
    `Description=Slipway cron ${name}`,
    'After=docker.service',
    '',
    '[Service]',
    'Type=oneshot',
    `ExecStart=docker start --attach ${container}`,
    // Docker keeps what it prints, where we read it; in the journal others could read it too.
    'StandardOutput=null',
    'StandardError=null',
    `TimeoutStopSec=${stopSeconds}`,
  ];
  return { unit, timer: `${timer.join('\n')}\n`, service: `${service.join('\n')}\n` };
}

function mustMatch(field: string, value: string, pattern: RegExp): void {
  if (pattern.test(value)) return;
  throw new Fault('invalid_input', `A timer cannot have this ${field}.`, { evidence: value.slice(0, 200) });
}
