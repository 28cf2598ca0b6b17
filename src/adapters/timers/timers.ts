/**
 * Containers and services of a swarm that run by the clock, as timers of the server's own systemd: they go on without us. Owns the
 * unit files `slipway-cron-…`; touches no other, and starts nothing but what is there.
 */
import { Fault } from '../../fault.ts';
import type { EnvironmentId } from '../../ids.ts';
import { commandFailed } from '../../remote/exec/commands.ts';
import { sendScript } from '../../remote/exec/script.ts';
import type { Fence, Remote } from '../../remote/remote.ts';
import { exits } from '../../remote/units/unit-scripts.ts';
import { fenceArguments, fencedFault } from '../../remote/units/units.ts';
import { timerScript } from './timer-script.ts';
import { type Timer, unitFilesOf } from './unit-files.ts';

export type { Started, Timer } from './unit-files.ts';

export interface TimerOptions {
  readonly fence?: Fence;
  readonly signal?: AbortSignal;
}

const limitMs = 120_000;
const mostTimers = 100;

/** Exactly these for this owner, from now on and after each boot; one round trip. Others of the owner end. */
export async function setTimers(
  remote: Remote,
  owner: EnvironmentId,
  timers: readonly Timer[],
  { fence, signal }: TimerOptions = {},
): Promise<void> {
  if (timers.length > mostTimers)
    throw new Fault('invalid_input', `An environment has at most ${mostTimers} timers.`);
  const lines = unitFilesOf(owner, timers).map(
    ({ unit, service, timer }) => `${unit} ${base64(service)} ${base64(timer)}\n`,
  );
  const { argv, preamble } = sendScript(timerScript, [...fenceArguments(fence), owner]);
  const input = Buffer.concat([preamble, Buffer.from(`${lines.join('')}end\n`)]);
  const outcome = await remote.run(argv, { input, timeoutMs: limitMs, ...(signal && { signal }) });
  if (outcome.code === exits.fenced) throw fencedFault(outcome.stderr.toString('utf8').trim());
  if (outcome.code !== 0) throw commandFailed(['systemctl'], outcome);
}

/** Nothing of the owner's is left; what runs at this moment is ended. */
export function removeTimers(
  remote: Remote,
  owner: EnvironmentId,
  options: TimerOptions = {},
): Promise<void> {
  return setTimers(remote, owner, [], options);
}

/** Of all owners, on a server that stands for none of them any more. */
export async function removeAllTimers(remote: Remote, signal: AbortSignal): Promise<void> {
  await remote.script(removeAllScript, [], { signal, timeoutMs: limitMs });
}

const removeAllScript = `
cd /etc/systemd/system
set -- slipway-cron-*
if [ ! -e "$1" ]; then exit 0; fi
systemctl --quiet disable "$@"
systemctl stop "$@"
rm -f "$@"
systemctl daemon-reload
systemctl reset-failed "$@" 2>/dev/null || :
`;

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
