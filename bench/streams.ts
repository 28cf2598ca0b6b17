/** One event to 10,000 open streams, beside a bare node:http server that writes the same bytes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { appendEvents } from '../src/events/events.ts';
import { formatEvent } from '../src/http/streams.ts';
import type { WorkspaceId } from '../src/ids.ts';
import { createLog } from '../src/log.ts';
import { connectDatabase } from '../src/store/database.ts';
import { sql } from '../src/store/sql.ts';
import { freePort } from '../test/support/free-port.ts';
import {
  type Aim,
  type Amount,
  type Figure,
  kilobytes,
  median,
  milliseconds,
  perSecond,
  quantile,
} from './figure.ts';
import { signIn, untilAnswers } from './http.ts';
import { ManyStreams } from './many-streams.ts';
import { root, startService } from './service.ts';

const streamCount = 10_000;
const rounds = 15;
const event = {
  kind: 'project_updated',
  data: { projectId: '01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b', reason: 'bench' },
};

export async function benchStreams(): Promise<Figure[]> {
  const port = await freePort();
  const bare = spawn(process.execPath, ['bench/bare-streams.ts', String(port)], {
    cwd: root,
    stdio: 'inherit',
  });
  const service = await startService();
  const socketFolder = join(service.dataDir, 'postgres');
  const password = readFileSync(join(service.dataDir, 'postgres.password'), 'utf8');
  const connection: pg.PoolConfig = { host: socketFolder, user: 'slipway', password, database: 'postgres' };
  const db = connectDatabase(connection, createLog('silent'));
  try {
    const { token, accountId } = await signIn(service.url, service.dataDir, 1);
    const found = await db.one<{ id: WorkspaceId }>(sql`
      select workspace_id as id from memberships where account_id = ${accountId}`);
    if (!found) throw new Error('the account has no workspace');
    const feed = { workspaceId: found.id, feedId: found.id };
    const ours = await measure(
      service.process,
      `${service.url}/api/v1/events`,
      { authorization: `Bearer ${token}` },
      () => db.transaction((tx) => appendEvents(tx, feed, [event])),
    );
    await untilAnswers(`http://127.0.0.1:${port}/fire`);
    const bytes = formatEvent({ position: 1, at: new Date(), ...event });
    const yardstick = await measure(bare, `http://127.0.0.1:${port}/`, {}, () =>
      fetch(`http://127.0.0.1:${port}/fire`, { method: 'POST', body: bytes }),
    );
    const row = (
      what: string,
      unit: (value: number) => Amount,
      of: (measured: typeof ours) => number,
      aim?: Aim,
    ): Figure => ({
      what,
      slipway: unit(of(ours)),
      beside: { name: 'bare node:http', amount: unit(of(yardstick)) },
      ...(aim && { aim }),
    });
    return [
      row(`deliveries to ${streamCount} streams`, perSecond, ({ rate }) => rate, { ratioAtLeast: 0.6 }),
      row('delivery, p50', milliseconds, ({ p50 }) => p50),
      row('delivery, p99', milliseconds, ({ p99 }) => p99, { atMost: 500 }),
      row('memory a stream', kilobytes, (measured) => measured.kilobytes, { atMost: 20 }),
    ];
  } finally {
    bare.kill();
    await db.close();
    await service.stop();
  }
}

async function measure(
  server: ChildProcess,
  url: string,
  headers: Record<string, string>,
  fire: () => Promise<unknown>,
) {
  const warm = new ManyStreams();
  await warm.open(url, headers, 200);
  await warm.round(fire);
  warm.close();
  await sleep(2_000);
  const before = memoryOf(server.pid ?? 0);
  const streams = new ManyStreams();
  try {
    await streams.open(url, headers, streamCount);
    await sleep(3_000);
    const held = (memoryOf(server.pid ?? 0) - before) / streamCount;
    const latencies: number[] = [];
    const rates: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const arrived = await streams.round(fire);
      latencies.push(...arrived);
      rates.push(arrived.length / (Math.max(...arrived) / 1000));
      await sleep(200);
    }
    return {
      rate: median(rates),
      p50: quantile(latencies, 0.5),
      p99: quantile(latencies, 0.99),
      kilobytes: held,
    };
  } finally {
    streams.close();
  }
}

/** Resident memory of the process, in KB. */
function memoryOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}
