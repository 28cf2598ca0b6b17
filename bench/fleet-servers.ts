/**
 * Many servers in one process of their own: each an SSH server at an address of its own on loopback, which answers the
 * looks of the service as a lab server did, as late as that did. Started by `fleet.ts`, and told which application
 * crashes.
 */
import ssh2 from 'ssh2';
import { generateKeyPair } from '../src/remote/keys/keys.ts';
import { fingerprintOf } from '../src/remote/ssh/host-keys.ts';
import {
  type Answer,
  addressOf,
  asRecorded,
  environmentNumber,
  filled,
  lookOf,
  readRecording,
  relayedCalls,
  splitInput,
} from './fleet-answers.ts';

/** What the bench says. */
export type ToServers =
  | { readonly say: 'crash'; readonly server: number; readonly index: number }
  | { readonly say: 'tell' };

/** What it hears: first that they listen, then, for each time it asks, what they were asked. */
export type FromServers = { readonly told: 'listening'; readonly hostKeys: readonly string[] } | Asked;

export interface Asked {
  readonly told: 'asked';
  /** How often Docker was asked what there is: once a look. */
  readonly looks: number;
  /** What was never recorded. */
  readonly unknown: readonly string[];
  readonly connections: number;
}

const [servers = 0, port = 0] = process.argv.slice(2).map(Number);
const recording = readRecording();
const restarts = new Map<number, number>();
const unknown = new Set<string>();
let looks = 0;
let connections = 0;

/** By which the service knows one machine from another. Of each server, in order. */
const hostKeys: string[] = [];

for (let server = 0; server < servers; server += 1) {
  // Ours, since some of those that the library makes it cannot read itself.
  const { privateKey, publicKey } = generateKeyPair('fleet');
  hostKeys.push(fingerprintOf(Buffer.from(publicKey.split(' ')[1] ?? '', 'base64')));
  await new Promise<void>((resolve, reject) => {
    const listening = new ssh2.Server({ hostKeys: [privateKey.reveal()] }, (client) => serve(client, server));
    listening.once('error', reject);
    listening.listen(port, addressOf(server), () => resolve());
  });
}
process.on('message', (message: ToServers) => {
  if (message.say === 'tell') return tell({ told: 'asked', looks, unknown: [...unknown], connections });
  const number = environmentNumber(message.server, message.index);
  restarts.set(number, (restarts.get(number) ?? 0) + 1);
});
process.once('disconnect', () => process.exit(0));
tell({ told: 'listening', hostKeys });

function tell(message: FromServers): void {
  process.send?.(message);
}

function serve(client: ssh2.Connection, server: number): void {
  connections += 1;
  client.once('close', () => {
    connections -= 1;
  });
  // The service may go at any time.
  client.on('error', () => undefined);
  client.on('authentication', (login) => {
    if (login.method === 'publickey') login.accept();
    else login.reject(['publickey']);
  });
  client.on('session', (acceptSession) => {
    acceptSession().on('exec', (accept, _, { command }) => {
      const channel = accept();
      const sent: Buffer[] = [];
      channel.on('data', (chunk: Buffer) => sent.push(chunk));
      channel.once('end', () => {
        const { stdout, stderr, code, delayMs } = answerTo(server, command, Buffer.concat(sent));
        setTimeout(() => {
          if (stderr !== '') channel.stderr.write(Buffer.from(stderr, 'latin1'));
          channel.write(Buffer.from(stdout, 'latin1'));
          channel.exit(code);
          channel.end();
        }, delayMs);
      });
    });
  });
}

function answerTo(server: number, line: string, sent: Buffer): Answer {
  const { script, input } = splitInput(line, sent);
  const look = lookOf(script);
  if (look === 'relay') return relayed(server, input);
  const found = look && recording.scripts[look];
  if (!found) return neverRecorded(script.length > 0 ? script.toString('utf8', 0, 60) : line);
  return { ...found, stdout: filled(found.stdout, server).replace('@now@', String(Date.now())) };
}

/** As the relay prints it: of each call a line with its number, when it was made, what became of it, and a size. */
function relayed(server: number, input: Buffer): Answer {
  let stdout = '';
  for (const [index, call] of relayedCalls(input).entries()) {
    const reply = recording.relay.replies[asRecorded(call)] ?? ofCrashed(call);
    if (reply === undefined) return neverRecorded(call);
    if (call.startsWith('GET /containers/json')) looks += 1;
    const text = restarted(filled(reply, server), call);
    stdout += `${index} 0 met ${text.length}\n${text}`;
  }
  return { stdout, stderr: '', code: 0, delayMs: recording.relay.delayMs };
}

/** One application crashed in the recording, at some time; whichever does here says the same. */
function ofCrashed(call: string): string | undefined {
  const { replies } = recording.relay;
  const asked = ['/logs?', '/events?'].find((each) => call.includes(each));
  const recorded = asked && Object.keys(replies).find((each) => each.includes(asked));
  return recorded && replies[recorded];
}

/** Docker counts how often it has started a container again; by that a crash is known. */
function restarted(text: string, call: string): string {
  const number = Number.parseInt(/-([0-9a-f]{12})-web-1\/json$/.exec(call)?.[1] ?? '', 16);
  const count = restarts.get(number);
  return count === undefined ? text : text.replace('"RestartCount":0', `"RestartCount":${count}`);
}

function neverRecorded(what: string): Answer {
  unknown.add(what);
  return { stdout: '', stderr: 'this was never recorded\n', code: 127, delayMs: 0 };
}
