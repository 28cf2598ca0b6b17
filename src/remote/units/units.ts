/**
 * Long work that outlives this process: a transient systemd unit with its own folder on the server. After a broken
 * connection, or in another process, its output and its exit code are found there.
 */
import { Fault } from '../../fault.ts';
import { type Commands, commandFailed } from '../exec/commands.ts';
import { quoteArgv } from '../exec/quote.ts';
import type {
  Fence,
  FirstScript,
  RemoteOutcome,
  RunOptions,
  UnitOutput,
  UnitSpec,
  UnitState,
} from '../remote.ts';
import { exits, fenceScript, readUnitScript, startAndReadScript, stopUnitScript } from './unit-scripts.ts';

/** Ended from outside, by a reboot or a kill, before it could say how. */
const lostCode = 255;

const maxBytes = 1024 * 1024;
const timeoutMs = 120_000;
/** Who watches a build sees its lines within this. */
const tenthsBetweenLooks = 8;

export async function startUnit(commands: Commands, spec: UnitSpec, waitMs = 0): Promise<UnitOutput> {
  const { name, argv, input, fence, memoryMb } = spec;
  requireUnitName(name);
  const size = input === undefined ? '' : String(input.length);
  const command = Buffer.from(`exec ${quoteArgv(argv)}\n`);
  const memory = memoryMb === undefined ? '' : String(Math.round(memoryMb));
  const args = [
    ...fenceArguments(fence),
    name,
    String(command.length),
    size,
    memory,
    ...readArguments(name, 0, waitMs),
  ];
  const answer = await scripted(commands, startAndReadScript, args, {
    input: input ? Buffer.concat([command, input]) : command,
    timeoutMs: waitMs + timeoutMs,
    maxOutputBytes: maxBytes + 1024,
  });
  return outputIn(answer, 0);
}

export async function readUnit(
  commands: Commands,
  name: string,
  from: number,
  waitMs = 0,
): Promise<UnitOutput> {
  requireUnitName(name);
  const answer = await commands.script(readUnitScript, readArguments(name, from, waitMs), {
    timeoutMs: waitMs + timeoutMs,
    maxOutputBytes: maxBytes + 1024,
  });
  return outputIn(answer, from);
}

function readArguments(name: string, from: number, waitMs: number): string[] {
  const tenths = Math.max(0, Math.ceil(waitMs / 100));
  return [name, String(from), String(tenths), String(maxBytes), String(tenthsBetweenLooks)];
}

function outputIn(answer: Buffer, from: number): UnitOutput {
  const line = answer.indexOf('\n');
  const [kind = '', code = '', size = ''] = answer.subarray(0, line).toString('latin1').split(' ');
  const bytes = answer.subarray(line + 1);
  const next = from + bytes.length;
  // The end is reported together with the last of the output, so that who stops at the end has missed nothing.
  const state = next < Number(size) ? { kind: 'running' as const } : stateOf(kind, code);
  return { state, bytes, next };
}

export async function stopUnit(commands: Commands, name: string, fence?: Fence): Promise<void> {
  requireUnitName(name);
  await scripted(commands, stopUnitScript, [...fenceArguments(fence), name]);
}

/** The same, ahead of what is asked of sockets in the same round trip. */
export function stopUnitFirst(name: string, fence: Fence): FirstScript {
  requireUnitName(name);
  const args = [...fenceArguments(fence), name];
  return { text: stopUnitScript, args, failure: (outcome) => failureOf(outcome) };
}

export async function claimFence(commands: Commands, scope: string, epoch: number): Promise<void> {
  await scripted(commands, fenceScript, fenceArguments({ scope, epoch }));
}

async function scripted(
  commands: Commands,
  text: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Buffer> {
  const outcome = await commands.runScript(text, args, { timeoutMs, ...options });
  if (outcome.code === 0) return outcome.stdout;
  throw failureOf(outcome);
}

function failureOf(outcome: RemoteOutcome): Fault {
  const evidence = outcome.stderr.toString('utf8').trim();
  if (outcome.code === exits.fenced) return fencedFault(evidence);
  if (outcome.code === exits.stillRunning)
    return new Fault('remote_failed', 'The work on the server could not be stopped.', { evidence });
  return commandFailed(['systemd-run'], outcome);
}

function stateOf(kind: string, code: string): UnitState {
  if (kind === 'absent' || kind === 'running') return { kind };
  const number = /^\d+$/.test(code) ? Number(code) : Number.NaN;
  if (kind === 'ended' && !Number.isNaN(number)) return { kind: 'ended', code: number };
  return { kind: 'ended', code: lostCode, lost: true };
}

export function fencedFault(evidence: string): Fault {
  const message = 'The server has seen a newer worker; this one is fenced off.';
  return new Fault('remote_fenced', message, { evidence });
}

/** What a script with `fenceScript` in it failed with, where that was the fence. */
export function asFencedFault(error: unknown): Fault | undefined {
  if (!(error instanceof Fault) || error.code !== 'remote_failed') return undefined;
  return error.message.includes(`exit code ${exits.fenced} `) ? fencedFault(error.evidence ?? '') : undefined;
}

/** Without a fence the scope is empty, and nothing is compared. */
export function fenceArguments(fence: Fence | undefined): [string, string] {
  if (!fence) return ['', '0'];
  const { scope, epoch } = fence;
  if (!/^[a-z0-9][a-z0-9-]{0,127}$/.test(scope) || !Number.isSafeInteger(epoch) || epoch < 0) {
    throw new Fault(
      'invalid_input',
      'A fence needs a scope of small letters, digits and dashes, and a number.',
    );
  }
  return [scope, String(epoch)];
}

function requireUnitName(name: string): void {
  if (/^slipway-[a-z0-9][a-z0-9-]{0,180}$/.test(name)) return;
  throw new Fault('invalid_input', 'A unit is named slipway- and then small letters, digits and dashes.', {
    evidence: name,
  });
}
