/** The two files of a timer: when it fires, and what that starts. Nothing of a user's gets into them. */
import { Fault } from '../../fault.ts';
import type { EnvironmentId } from '../../ids.ts';

export interface Timer {
  /** Made by us, for people who look at the server. */
  readonly name: string;
  /** Expressions of systemd, from `calendarOf`. */
  readonly calendar: readonly string[];
  readonly starts: Started;
}

/**
 * A container is there, and stopped: it is started again each time, never twice at once. A service of a swarm runs one task to its
 * end each time; its timer may be on every server of the swarm, and all together run it once for each moment.
 */
export type Started = { readonly container: string } | { readonly swarmService: string };

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

function filesOf(owner: EnvironmentId, { name, calendar, starts }: Timer, unit: string): UnitFiles {
  // No percent sign, no space, no line end: a unit file would read more into them.
  mustMatch('name', name, /^[A-Za-z0-9][A-Za-z0-9_.-]{0,199}$/);
  const started = 'container' in starts ? starts.container : starts.swarmService;
  mustMatch('container', started, /^slipway-[A-Za-z0-9_.-]{1,199}$/);
  for (const each of calendar) mustMatch('calendar', each, /^[A-Za-z0-9*][A-Za-z0-9*,:./ ~-]{0,999}$/);
  if (calendar.length === 0) mustMatch('calendar', '', /./);
  const head = ['# slipway: cron', `# slipway.environment: ${owner}`, `# slipway.container: ${started}`];
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
    'container' in starts
      ? `ExecStart=docker start --attach ${started}`
      : `ExecStart=/bin/sh -uc '${inUnit(tickScript)}' slipway-cron ${started} "${minutesOf(calendar)}"`,
    // Docker keeps what it prints, where we read it; in the journal others could read it too.
    'StandardOutput=null',
    'StandardError=null',
    `TimeoutStopSec=${stopSeconds}`,
  ];
  return { unit, timer: `${timer.join('\n')}\n`, service: `${service.join('\n')}\n` };
}

/**
 * `$1` the service, `$2` the minutes that are meant, as `date` prints them. Only a manager with a majority changes anything. What it
 * changes is the label of the minute, and nothing is started where that is the same already: however many servers say it, the
 * service runs once. A timer that fires late, after the server was suspended, finds another minute and does nothing.
 */
const tickScript = `
export LC_ALL=C
at=$(date -u +%s)
date -u -d "@$at" "+%a %m-%d %H:%M" | grep -Eqx "$2" || exit 0
docker node inspect self >/dev/null || exit 0
test -z "$(docker service ps --quiet --filter desired-state=running "$1")" || exit 0
tick=$(date -u -d "@$at" +%Y%m%dT%H%M)
docker service update --quiet --detach --container-label-add "slipway.tick=$tick" --replicas 1 "$1" && exit 0
test "$(docker service inspect --format "{{index .Spec.TaskTemplate.ContainerSpec.Labels \\"slipway.tick\\"}}" "$1")" = "$tick"
`;

/** As one line within single quotes, with what systemd would read for itself. */
function inUnit(script: string): string {
  return script
    .trim()
    .replaceAll('\n', '; ')
    .replaceAll('\\', '\\\\')
    .replaceAll('%', '%%')
    .replaceAll('$', '$$$$');
}

/** What `date -u '+%a %m-%d %H:%M'` prints in the minutes of these calendars, as an extended regular expression. */
function minutesOf(calendar: readonly string[]): string {
  const one = (each: string) => {
    const found = /^(?:([A-Za-z,]+) )?\*-(\S+)-(\S+) ([^:]+):([^:]+):00 UTC$/.exec(each);
    mustMatch('calendar', found ? each : '', /./);
    const [, days = '*', month = '', day = '', hour = '', minute = ''] = found ?? [];
    const any = (list: string, all: string) => (list === '*' ? all : `(${list.replaceAll(',', '|')})`);
    const date = `${any(days, '...')} ${any(month, '..')}-${any(day, '..')}`;
    return `${date} ${any(hour, '..')}:${any(minute, '..')}`;
  };
  return calendar.map(one).join('|');
}

function mustMatch(field: string, value: string, pattern: RegExp): void {
  if (pattern.test(value)) return;
  throw new Fault('invalid_input', `A timer cannot have this ${field}.`, { evidence: value.slice(0, 200) });
}
