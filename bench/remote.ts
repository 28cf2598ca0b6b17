/** Commands and files through `src/remote`, beside the `ssh` client over a connection that is already open. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { attempt, ended, run } from '../lab/command.ts';
import type { LabDescription, ServerDescription } from '../lab/description.ts';
import { launchBound } from '../lab/launch.ts';
import { whyNot } from '../lab/needs.ts';
import { Progress } from '../lab/progress.ts';
import { serverResolver } from '../src/adapters/egress/server-networks.ts';
import { newId, type ServerId } from '../src/ids.ts';
import { createLog } from '../src/log.ts';
import { createRemotePool } from '../src/remote/pool.ts';
import type { Remote } from '../src/remote/remote.ts';
import { readHostKey } from '../src/remote/ssh/connect.ts';
import { Secret } from '../src/secret.ts';
import {
  type Aim,
  type Amount,
  type Figure,
  LeftOut,
  median,
  megabytesPerSecond,
  milliseconds,
} from './figure.ts';

const chunk = Buffer.alloc(64 * 1024, 'slipway ');
const chunks = 1024;

export async function benchRemote(): Promise<Figure[]> {
  const reason = whyNot();
  if (reason) throw new LeftOut(reason);
  const lab = await launchBound(`bench-remote-${process.pid}`, ['bare'], new Progress());
  const folder = mkdtempSync(join(tmpdir(), 'slipway-bench-'));
  const resolve = serverResolver({ allowPrivate: true, networks: [] });
  const pool = createRemotePool(resolve, createLog('silent'));
  const [server] = lab.about.servers;
  let master: Master | undefined;
  try {
    if (!server?.keyFile) throw new Error('the lab has no server with a key');
    const { address: host, port, user: username, keyFile } = server;
    const { fingerprint: hostKey } = await readHostKey({ host, port, resolve });
    const privateKey = new Secret(readFileSync(keyFile, 'utf8'));
    const remote = pool.to({ serverId: newId<ServerId>(), host, port, username, privateKey, hostKey });
    master = await openMaster(lab.about, server, join(folder, 'control'));
    return await compare(remote, master.ssh);
  } finally {
    await master?.end();
    await pool.close();
    // Waiting for the lab's process does not keep ours alive.
    const awake = setInterval(() => undefined, 1_000);
    await lab.end();
    clearInterval(awake);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compare(remote: Remote, ssh: readonly string[]): Promise<Figure[]> {
  const ours = () => remote.run(['true']);
  const theirs = () => run('ssh', [...ssh, 'true']);
  const atOnce = (one: () => Promise<unknown>) => () => Promise.all(Array.from({ length: 8 }, one));
  const trips = await inTurns(100, ours, theirs);
  const eight = await inTurns(20, atOnce(ours), atOnce(theirs));
  const up = await inTurns(
    5,
    () => upload(remote),
    () => uploadBySsh(ssh),
  );
  const down = await inTurns(
    5,
    () => download(remote),
    () => downloadBySsh(ssh),
  );
  const rate = (ms: number) => megabytesPerSecond((chunk.length * chunks) / 1_000 / ms);
  const row = (
    what: string,
    amount: (ms: number) => Amount,
    [own, other]: readonly [number, number],
    aim: Aim,
  ): Figure => ({
    what,
    aim,
    slipway: amount(own),
    beside: { name: 'ssh, warm ControlMaster', amount: amount(other) },
  });
  return [
    row('command round trip', milliseconds, trips, { ratioAtMost: 1 }),
    row('eight commands at once', milliseconds, eight, { ratioAtMost: 1 }),
    row('64 MB to the server', rate, up, { ratioAtLeast: 1 }),
    row('64 MB from the server', rate, down, { ratioAtLeast: 1 }),
  ];
}

/** Medians; one of each in turn, so that whatever else the machine does meets both. */
async function inTurns(
  times: number,
  own: () => Promise<unknown>,
  other: () => Promise<unknown>,
): Promise<readonly [number, number]> {
  const took: [number[], number[]] = [[], []];
  for (let count = -2; count < times; count += 1) {
    for (const [index, work] of [own, other].entries()) {
      const begun = performance.now();
      await work();
      if (count >= 0) took[index === 0 ? 0 : 1].push(performance.now() - begun);
    }
  }
  return [median(took[0]), median(took[1])];
}

async function upload(remote: Remote): Promise<void> {
  const streams = await remote.stream(['sh', '-c', 'cat >/dev/null']);
  await pipeline(Readable.from(sample()), streams.stdin);
  await streams.ended;
}

async function download(remote: Remote): Promise<void> {
  const { stdout, ended } = await remote.stream(['head', '-c', String(chunk.length * chunks), '/dev/zero']);
  stdout.resume();
  await ended;
}

async function uploadBySsh(ssh: readonly string[]): Promise<void> {
  const child = spawn('ssh', [...ssh, 'cat >/dev/null'], { stdio: ['pipe', 'ignore', 'ignore'] });
  const closed = new Promise((resolve) => child.once('close', resolve));
  await pipeline(Readable.from(sample()), child.stdin);
  await closed;
}

async function downloadBySsh(ssh: readonly string[]): Promise<void> {
  const command = `head -c ${chunk.length * chunks} /dev/zero`;
  const child = spawn('ssh', [...ssh, command], { stdio: ['ignore', 'pipe', 'ignore'] });
  child.stdout.resume();
  await new Promise((resolve) => child.once('close', resolve));
}

function* sample(): Generator<Buffer> {
  for (let count = 0; count < chunks; count += 1) yield chunk;
}

/** The connection of the `ssh` client, open until it is ended. */
export async function openMaster(
  lab: LabDescription,
  server: ServerDescription,
  control: string,
): Promise<Master> {
  const options = [
    `UserKnownHostsFile=${lab.knownHosts}`,
    'BatchMode=yes',
    'LogLevel=ERROR',
    `ControlPath=${control}`,
  ];
  const named = options.flatMap((option) => ['-o', option]);
  const ssh = ['-i', server.keyFile ?? '', ...named, `${server.user}@${server.address}`];
  const master = spawn('ssh', ['-M', '-N', ...ssh], { stdio: 'ignore' });
  const end = async () => {
    master.kill();
    await ended(master);
  };
  for (let left = 200; left > 0; left -= 1) {
    if ((await attempt('ssh', ['-O', 'check', ...ssh])).code === 0) return { ssh, end };
    await sleep(50);
  }
  await end();
  throw new Error('ssh does not reach the server');
}

interface Master {
  readonly ssh: readonly string[];
  end(): Promise<void>;
}
