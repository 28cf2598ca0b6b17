/**
 * How many servers one instance looks after: simulated ones that answer as a lab server did (fleet-servers.ts), five
 * environments on each. What a server costs in processor time and memory, how soon a crash is noticed, and what the API
 * answers meanwhile beside the same instance with the same data and nothing to look at.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, startTestPostgres } from '../test/support/postgres.ts';
import { count, type Figure, kilobytes, median, milliseconds, quantile, secondsOf } from './figure.ts';
import { addressOf, environmentsEach } from './fleet-answers.ts';
import { benchConnections } from './fleet-connections.ts';
import { fillFleet, setDue, untilAllSeen } from './fleet-data.ts';
import { databaseMs, keepToOtherCores, onCore, processorMs, residentKb } from './fleet-processes.ts';
import { crashes, readFor } from './fleet-reads.ts';
import { type Simulated, simulate } from './fleet-simulated.ts';
import { scaleKey } from './scale-calls.ts';
import { type Service, startService } from './service.ts';

const servers = Number(process.env.BENCH_FLEET_SERVERS ?? '2000');
const instances = Number(process.env.BENCH_FLEET_INSTANCES ?? '1');
const minutes = Number(process.env.BENCH_FLEET_MINUTES ?? '3');
const idleMs = 30_000;
/** After every server was looked at once, they all are once more. */
const warmMs = 70_000;

export async function benchFleet(): Promise<Figure[]> {
  keepToOtherCores(instances);
  const postgres = await startTestPostgres({});
  Object.assign(process.env, postgres.env);
  const url = await createTestDatabase();
  const simulated = await simulate(servers);
  const services: Service[] = [];
  try {
    for (let core = 0; core < instances; core += 1) services.push(await startInstance(url, core));
    const figures = await measure(url, services, simulated);
    return [...figures, ...(await benchConnections(servers, simulated))];
  } finally {
    for (const service of services) await service.stop();
    await simulated.end();
    await postgres.stop();
  }
}

async function measure(url: string, services: readonly Service[], simulated: Simulated): Promise<Figure[]> {
  const pids = services.map(({ process: { pid = 0 } }) => pid);
  const all = (of: (pid: number) => number) => pids.reduce((sum, pid) => sum + of(pid), 0);
  const apiUrl = services[0]?.url ?? '';
  await sleep(20_000);
  const emptyKb = all(residentKb);
  await fillFleet(url, { servers, port: simulated.port, hostKeys: simulated.hostKeys });
  say(`${servers} servers are stored; the empty instance holds ${emptyKb} KB`);
  await readFor(apiUrl, servers, idleMs / 3);
  const idle = await readFor(apiUrl, servers, idleMs);
  await setDue(url, 'now');
  const firstMs = await untilAllSeen(url);
  say(`every server was looked at after ${(firstMs / 1000).toFixed(0)} s`);
  await sleep(warmMs);
  const before = { own: all(processorMs), database: await databaseMs(url), asked: await simulated.ask() };
  const warmKb = all(residentKb);
  say(`warm: ${warmKb} KB, ${before.asked.connections} connections`);
  const began = performance.now();
  const noticing = crashes(apiUrl, servers, minutes, simulated.crash);
  const busy = await readFor(apiUrl, servers, minutes * 60_000);
  const took = (performance.now() - began) / 60_000;
  const own = (all(processorMs) - before.own) / took / servers;
  const database = ((await databaseMs(url)) - before.database) / took / servers;
  const asked = await simulated.ask();
  const keptKb = all(residentKb);
  const noticed = await noticing;
  const looks = (asked.looks - before.asked.looks) / took / servers;
  say(`${looks.toFixed(3)} looks a server and minute, ${own.toFixed(1)} ms; the instance holds ${keptKb} KB`);
  // Once more, so that what else the machine did at either time weighs less.
  await setDue(url, 'never');
  await sleep(10_000);
  const again = await readFor(apiUrl, servers, idleMs);
  if (asked.unknown.length > 0)
    throw new Error(`record anew (see bench/fleet-record.ts): ${asked.unknown.join('; ')}`);
  if (looks < 0.9) say('The looks are behind: what follows is of a service that does not keep up.');
  return [
    {
      what: `processor time a server and minute, ${servers} servers`,
      slipway: milliseconds(own),
      aim: { atMost: 60_000 / 2_000 },
    },
    {
      what: 'every server is connected to and looked at once, all of them late',
      slipway: secondsOf(firstMs),
    },
    { what: 'processor time of PostgreSQL a server and minute', slipway: milliseconds(database) },
    {
      what: 'memory a server, beside an empty instance',
      slipway: kilobytes((keptKb - emptyKb) / servers),
      aim: { atMost: 200 },
    },
    {
      what: `memory a server that ${minutes} minutes added`,
      slipway: kilobytes((keptKb - warmKb) / servers),
    },
    {
      what: `a crash is noticed, the slowest of ${noticed.length}`,
      slipway: secondsOf(Math.max(...noticed)),
      aim: { atMost: 90 },
    },
    { what: 'a crash is noticed, median', slipway: secondsOf(median(noticed)) },
    ...reads('an environment', busy.environment, [...idle.environment, ...again.environment]),
    ...reads('projects', busy.projects, [...idle.projects, ...again.projects]),
    { what: 'reads refused meanwhile', slipway: count(busy.refused), aim: { atMost: 0 } },
  ];
}

function reads(what: string, busy: readonly number[], idle: readonly number[]): Figure[] {
  const name = 'nothing to look at';
  const at = (share: number) => ({
    slipway: milliseconds(quantile(busy, share)),
    beside: { name, amount: milliseconds(quantile(idle, share)) },
  });
  return [
    { what: `reading ${what} meanwhile, median`, ...at(0.5), aim: { ratioAtMost: 1.3 } },
    { what: `reading ${what} meanwhile, p99`, ...at(0.99) },
  ];
}

/** On a core of its own, with the rest of the machine on the others. Its servers stand on loopback. */
function startInstance(url: string, core: number): Promise<Service> {
  const addresses = Array.from({ length: servers }, (_, server) => addressOf(server));
  return startService({
    command: onCore(core, [process.execPath, 'scripts/run.mjs', '--service', 'src/main.ts']),
    env: {
      SLIPWAY_DATABASE_URL: url,
      SLIPWAY_MASTER_KEY: scaleKey,
      SLIPWAY_SERVER_NETWORKS: addresses.join(','),
    },
  });
}

function say(line: string): void {
  process.stderr.write(`fleet of ${servers} × ${environmentsEach}: ${line}\n`);
}
