/**
 * What a lab server with five environments answered to the looks of the service (fleet-record.ts writes it), and the
 * same answers for any of many servers: only the ids differ.
 */
import { readFileSync } from 'node:fs';
import type { RunPlan } from '../src/engine/release-spec.ts';

export const environmentsEach = 5;
export const serversInWorkspace = 10;

export interface Answer {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
  readonly delayMs: number;
}

/** Bytes are written as Latin-1, so that nothing is lost in JSON. */
export interface Recording {
  readonly recordedAt: string;
  readonly scripts: Readonly<Partial<Record<Look, Answer>>>;
  /** The script that carries calls of Docker's API, each with its reply. */
  readonly relay: {
    readonly delayMs: number;
    readonly replies: Readonly<Record<string, string>>;
  };
  /** How the releases run that it answers for. */
  readonly run: RunPlan;
}

/** A part of each script that a look sends, by which it is known: the rest may change, as long as the answer fits. */
const marks = { relay: 'sub talk {', fronts: 'qq{written $id', facts: 'field clock' } as const;
export type Look = keyof typeof marks;

export function lookOf(script: Buffer): Look | undefined {
  const looks: readonly Look[] = ['relay', 'fronts', 'facts'];
  return looks.find((each) => script.includes(marks[each]));
}

export const recordingFile = new URL('fleet-answers.json', import.meta.url);

export function readRecording(): Recording {
  return JSON.parse(readFileSync(recordingFile, 'utf8'));
}

const kinds = [
  ...(['workspace', 'account', 'session', 'server', 'project'] as const),
  ...(['environment', 'deployment', 'release'] as const),
];
type Kind = (typeof kinds)[number];

/** The same number is the same id in the database and on the simulated server. As long as the ids of the service. */
export function fleetId(kind: Kind, number: number): string {
  const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0');
  return `019a0000-0000-7${hex(kinds.indexOf(kind), 3)}-8000-${hex(number, 12)}`;
}

export const environmentNumber = (server: number, index: number) => server * environmentsEach + index;

/** The server's address: all of them are this machine, and none is another. */
export const addressOf = (server: number) => `127.1.${Math.floor(server / 250)}.${(server % 250) + 1}`;

/** The recorded text with the ids of that server. */
export function filled(text: string, server: number): string {
  return text.replaceAll(
    /@(workspace|environment|deployment|release)(\d?)@/g,
    (_, kind: Kind, index: string) =>
      kind === 'workspace'
        ? fleetId(kind, Math.floor(server / serversInWorkspace))
        : fleetId(kind, environmentNumber(server, Number(index))),
  );
}

const deploymentId = new RegExp(`${fleetId('deployment', 0).slice(0, -12)}([0-9a-f]{12})`, 'g');

/** The way back, for what is asked: containers are named after their deployment. */
export function asRecorded(text: string): string {
  return text.replaceAll(
    deploymentId,
    (_, number: string) => `@deployment${Number.parseInt(number, 16) % environmentsEach}@`,
  );
}

/** A script arrives ahead of its input, and the command line says how long it is. */
export function splitInput(line: string, sent: Buffer): { readonly script: Buffer; readonly input: Buffer } {
  const size = Number(/ 'sh' '(\d+)'/.exec(line)?.[1] ?? 0);
  return { script: sent.subarray(0, size), input: sent.subarray(size) };
}

/** The calls that a relay was given: of each a line whose last fields are the sizes of what follows. */
export function relayedCalls(input: Buffer): string[] {
  const calls: string[] = [];
  for (let at = 0; at < input.length; ) {
    const end = input.indexOf('\n', at);
    const [expects = 0, sends = 0] = input.toString('latin1', at, end).split(' ').slice(-2).map(Number);
    const from = end + 1 + expects;
    at = from + sends;
    calls.push(input.toString('latin1', from, at).split(' HTTP/', 1)[0] ?? '');
  }
  return calls;
}
