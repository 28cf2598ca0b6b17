/**
 * Records what a server answers to the looks of the service: `node scripts/run.mjs --dev bench/fleet-record.ts` (as root, some minutes)
 * deploys five environments to a lab server, listens for three minutes of looks with a crash among them, and writes
 * fleet-answers.json. To be run anew when the scripts of a look have changed; `npm run bench -- fleet` says so.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientChannel } from 'ssh2';
import { run } from '../lab/command.ts';
import type { RunPlan } from '../src/engine/release-spec.ts';
import { Connection } from '../src/remote/ssh/connection.ts';
import { sql } from '../src/store/sql.ts';
import { benchApp } from './deploy.ts';
import { DeployBench } from './deploy-scene.ts';
import {
  type Answer,
  environmentsEach,
  type Look,
  lookOf,
  type Recording,
  recordingFile,
  relayedCalls,
  splitInput,
} from './fleet-answers.ts';
import { openMaster } from './remote.ts';

const listenMs = 80_000;

interface Heard {
  readonly line: string;
  readonly sent: Buffer;
  readonly answer: Answer;
}

const heard: Heard[] = [];
listenToCommands();
const folder = mkdtempSync(join(tmpdir(), 'slipway-fleet-record-'));
const bench = await DeployBench.start();
try {
  for (const [name, content] of Object.entries(benchApp)) writeFileSync(join(folder, name), content);
  const settings = { healthPath: '/', drainSeconds: 1, stopSeconds: 2 };
  const ids: string[] = [];
  for (let index = 0; index < environmentsEach; index += 1)
    ids.push(await bench.environment(`app-${index}`, folder, settings));
  heard.length = 0;
  process.stderr.write('Listening to the looks.\n');
  await sleep(listenMs);
  const quiet = heard.splice(0);
  await crashOne(ids[0] ?? '');
  await sleep(listenMs);
  writeFileSync(recordingFile, `${JSON.stringify(await recordingOf(quiet, heard, ids), null, 2)}\n`);
} finally {
  await bench.end();
  rmSync(folder, { recursive: true, force: true });
}

/** Below everything that the service knows of commands: what is sent over a connection, and what comes back. */
function listenToCommands(): void {
  const { exec } = Connection.prototype;
  Connection.prototype.exec = async function <T>(line: string, adopt: (channel: ClientChannel) => T) {
    let adopted: { readonly by: T } | undefined;
    await exec.call(this, line, (channel) => {
      listen(line, channel);
      adopted = { by: adopt(channel) };
    });
    if (!adopted) throw new Error('a command was started and nobody has it');
    return adopted.by;
  };
}

function listen(line: string, channel: ClientChannel): void {
  const began = performance.now();
  const [sent, stdout, stderr]: [Buffer[], Buffer[], Buffer[]] = [[], [], []];
  const write = channel._write.bind(channel);
  channel._write = (chunk: Buffer, encoding, done) => {
    sent.push(Buffer.from(chunk));
    write(chunk, encoding, done);
  };
  channel.on('data', (chunk: Buffer) => stdout.push(chunk));
  channel.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  channel.once('exit', (code: number | null) => {
    // What was printed may still be on its way.
    channel.once('close', () => {
      const text = (chunks: Buffer[]) => Buffer.concat(chunks).toString('latin1');
      const delayMs = performance.now() - began;
      const answer = { stdout: text(stdout), stderr: text(stderr), code: code ?? -1, delayMs };
      heard.push({ line, sent: Buffer.concat(sent), answer });
    });
  });
}

/** Ended by its own kernel, as a crash is: Docker starts it again and counts. */
async function crashOne(environmentId: string): Promise<void> {
  const master = await openMaster(bench.lab, bench.server, join(folder, 'control'));
  const filter = `label=slipway.environment=${environmentId}`;
  const kill = `kill -KILL $(docker inspect -f '{{.State.Pid}}' $(docker ps -q --filter ${filter}))`;
  await run('ssh', [...master.ssh, kill]);
  await master.end();
}

async function recordingOf(
  quiet: readonly Heard[],
  crashed: readonly Heard[],
  ids: readonly string[],
): Promise<Recording> {
  const isRelay = (each: Heard) => nameOf(each) === 'relay';
  const relays = quiet.filter(isRelay);
  const [first] = relays;
  if (!first) throw new Error('no look was heard');
  const names = namesOf(first, ids);
  const scripts: Partial<Record<Look, Answer>> = {};
  for (const [name, same] of Map.groupBy(
    quiet.filter((each) => !isRelay(each)),
    nameOf,
  )) {
    const [one] = same;
    if (!one) continue;
    const { stdout, stderr, code } = one.answer;
    const scrubbed = names(stdout).replace(/^clock=\d+/m, 'clock=@now@');
    scripts[name] = { stdout: scrubbed, stderr: names(stderr), code, delayMs: delayOf(same) };
  }
  const replies: Record<string, string> = {};
  for (const each of [...quiet, ...crashed].filter(isRelay))
    for (const [call, reply] of exchangesOf(each)) replies[names(call)] ??= names(reply);
  const relay = { delayMs: delayOf(relays), replies };
  const row = await bench.app.store.db.one<{ run: RunPlan }>(sql`select run from releases limit 1`);
  if (!row) throw new Error('there is no release');
  return { recordedAt: new Date().toISOString(), scripts, relay, run: row.run };
}

function nameOf({ line, sent }: Heard): Look {
  const { script } = splitInput(line, sent);
  const name = lookOf(script);
  if (!name) throw new Error(`a look that has no name: ${script.toString('utf8', 0, 200) || line}`);
  return name;
}

/** The shortest: what else the machine was busy with is no part of the server. */
function delayOf(same: readonly Heard[]): number {
  return Math.round(Math.min(...same.map(({ answer }) => answer.delayMs)));
}

/** Of each call with what Docker said, as the relay printed it: a line that ends with a size, then so many bytes. */
function exchangesOf({ line, sent, answer }: Heard): [string, string][] {
  const calls = relayedCalls(splitInput(line, sent).input);
  let at = 0;
  return calls.map((call) => {
    const end = answer.stdout.indexOf('\n', at);
    const size = Number(answer.stdout.slice(at, end).split(' ').at(-1));
    at = end + 1 + size;
    return [call, answer.stdout.slice(end + 1, at)];
  });
}

/** Puts names in the place of ids. An id that belongs to no environment may not stay: it would be the same on all. */
function namesOf(look: Heard, ids: readonly string[]): (text: string) => string {
  const list = exchangesOf(look).find(([call]) => call.startsWith('GET /containers/json'))?.[1] ?? '';
  const known = new Map<string, string>();
  for (const container of JSON.parse(list.slice(list.indexOf('\r\n\r\n') + 4))) {
    const labels: Record<string, string> = container.Labels;
    const index = ids.indexOf(labels['slipway.environment'] ?? '');
    known.set(labels['slipway.workspace'] ?? '', '@workspace@');
    known.set(labels['slipway.environment'] ?? '', `@environment${index}@`);
    known.set(labels['slipway.deployment'] ?? '', `@deployment${index}@`);
    known.set(labels['slipway.release'] ?? '', `@release${index}@`);
  }
  return (text) =>
    text.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => {
      const name = known.get(id);
      if (name === undefined) throw new Error(`whose id is ${id}?`);
      return name;
    });
}
