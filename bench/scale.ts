/**
 * What the size of an installation costs: each list and detail of the API against 1,000,000 deployments with
 * 10,000,000 lines of log, beside the same call against one workspace with a handful, in turns; and what it takes to
 * remove what has had its time.
 */
import { performance } from 'node:perf_hooks';
import pg from 'pg';
import { pruneDeployments } from '../src/areas/deployments/prune-deployments.ts';
import { day } from '../src/clock.ts';
import { pruneEvents } from '../src/events/events.ts';
import { createLog } from '../src/log.ts';
import { OperationKinds } from '../src/operations/kinds.ts';
import { pruneOperations } from '../src/operations/prune-schedule.ts';
import { connectDatabase } from '../src/store/database.ts';
import { createTestDatabase, startTestPostgres } from '../test/support/postgres.ts';
import { type Figure, gigabytes, median, milliseconds, perSecond, quantile, secondsOf } from './figure.ts';
import { type Call, calls, findPlaces, type Place, scaleKey } from './scale-calls.ts';
import { generateScale } from './scale-data.ts';
import { startService } from './service.ts';

const workspacesAsked = 50;
const rounds = 15;
const perRound = 20;
const silent = createLog('silent');

export async function benchScale(): Promise<Figure[]> {
  const postgres = await startTestPostgres({});
  try {
    Object.assign(process.env, postgres.env);
    const [large, small] = [await createTestDatabase(), await createTestDatabase()];
    const factor = Number(process.env.BENCH_SCALE_FACTOR ?? '1');
    const began = performance.now();
    await generateScale(large, { factor });
    const generatedMs = performance.now() - began;
    await generateScale(small, { factor: 0.001, busiest: 120 });
    return [
      { what: 'generating the data set', slipway: secondsOf(generatedMs) },
      { what: 'the database', slipway: gigabytes(await sizeOf(large)) },
      ...(await measureCalls(large, small)),
      ...(await measureRetention(large)),
    ];
  } finally {
    await postgres.stop();
  }
}

async function sizeOf(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ size: string }>(
    'select pg_database_size(current_database())::text as size',
  );
  await client.end();
  return Number(rows[0]?.size) / 1e9;
}

export async function measureCalls(largeUrl: string, smallUrl: string): Promise<Figure[]> {
  const sides = [await startSide(largeUrl, workspacesAsked), await startSide(smallUrl, 1)] as const;
  try {
    const figures: Figure[] = [];
    for (const call of calls) {
      const times: [number[], number[]] = [[], []];
      for (const side of sides) await ask(side, call, perRound);
      for (let round = 0; round < rounds; round += 1)
        for (const [index, side] of sides.entries()) times[index]?.push(...(await ask(side, call, perRound)));
      const name = 'almost empty';
      const [ours, beside] = times;
      figures.push({
        what: `${call.what}, median`,
        slipway: milliseconds(median(ours)),
        beside: { name, amount: milliseconds(median(beside)) },
        aim: { ratioAtMost: 1.5 },
      });
      figures.push({
        what: `${call.what}, p99`,
        slipway: milliseconds(quantile(ours, 0.99)),
        beside: { name, amount: milliseconds(quantile(beside, 0.99)) },
      });
    }
    return figures;
  } finally {
    for (const side of sides) await side.stop();
  }
}

interface Side {
  readonly url: string;
  readonly places: readonly Place[];
  asked: number;
  stop(): Promise<void>;
}

/** Nothing is removed while it is measured. */
async function startSide(databaseUrl: string, most: number): Promise<Side> {
  const service = await startService({
    env: {
      SLIPWAY_DATABASE_URL: databaseUrl,
      SLIPWAY_MASTER_KEY: scaleKey,
      SLIPWAY_EVENT_DAYS: '3650',
      SLIPWAY_OPERATION_DAYS: '3650',
      SLIPWAY_KEEP_DEPLOYMENTS: '1000000',
    },
  });
  const places = await findPlaces(databaseUrl, most);
  return { url: service.url, places, asked: 0, stop: () => service.stop() };
}

/** In turn for each of the workspaces: one that was just asked for would lie ready in memory. */
async function ask(side: Side, call: Call, times: number): Promise<number[]> {
  const taken: number[] = [];
  for (let count = 0; count < times; count += 1) {
    const place = side.places[side.asked++ % side.places.length];
    if (!place) throw new Error('there is no workspace to ask for');
    const headers = { authorization: `Bearer ${place.token}` };
    const began = performance.now();
    const answer = await fetch(`${side.url}/api/v1${call.path(place)}`, { headers });
    const text = await answer.text();
    taken.push(performance.now() - began);
    if (!answer.ok) throw new Error(`${call.what}: ${answer.status} ${text}`);
  }
  return taken;
}

/** A twentieth of what is there: as much as a busy installation has to remove in some days. */
async function measureRetention(url: string): Promise<Figure[]> {
  const db = connectDatabase({ connectionString: url }, silent);
  const before = new Date(Date.now() - 190 * day);
  const rate = async (what: string, work: () => Promise<number>): Promise<Figure> => {
    const began = performance.now();
    const removed = await work();
    return { what, slipway: perSecond(removed / ((performance.now() - began) / 1_000)) };
  };
  try {
    return [
      await rate('events removed', () => pruneEvents(db, before)),
      await rate('operations removed, with their steps', () =>
        pruneOperations(db, new OperationKinds(), before),
      ),
      await rate('deployments removed, with their releases', () => pruneDeployments(db, 4_500)),
    ];
  } finally {
    await db.close();
  }
}
