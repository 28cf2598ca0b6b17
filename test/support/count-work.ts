/** What a deployment costs, in things that can be counted: they do not depend on how busy the machine is. */
import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import pg from 'pg';
import type { Remote, RemotePool } from '../../src/remote/remote.ts';

export interface CountedWork {
  /** Exchanges with servers, without what is read again of work that takes longer: that depends on the machine. */
  readonly trips: (keyof Remote)[];
  /** Of ours; what git starts itself is not among them. */
  gitProcesses: number;
  /** Without the beginning and the end of transactions, and without what the service does by itself again and again. */
  statements: number;
}

/** Among it looks for what is due, the queue's own, leases: the slower the machine, the more of them come into one deployment. */
const beside =
  /^(begin|commit)$|pgboss|\bdue as\b|advisory_xact_lock|with next as|lease_until = now\(\)|notice|request_counts/i;

/** Counts from now on, until it is ended. */
export function countWork(pool: RemotePool): { readonly counted: CountedWork; end(): void } {
  const counted: CountedWork = { trips: [], gitProcesses: 0, statements: 0 };
  let isCounting = true;
  countTrips(pool, (what) => {
    if (isCounting && what !== 'readUnit') counted.trips.push(what);
  });
  const onProcess = (message: unknown) => {
    const { spawnargs = [] }: Partial<ChildProcess> = Object(Object(message).process);
    if (spawnargs.some((each) => each.includes('exec git'))) counted.gitProcesses += 1;
  };
  subscribe('child_process', onProcess);
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
    const [asked] = given;
    if (!beside.test(typeof asked === 'string' ? asked : String(Object(asked).text))) counted.statements += 1;
    return Reflect.apply(query, this, given);
  };
  const end = () => {
    isCounting = false;
    unsubscribe('child_process', onProcess);
    pg.Client.prototype.query = query;
  };
  return { counted, end };
}

/** Each method of a remote is one exchange with the server, whatever goes on inside. */
export function countTrips(pool: RemotePool, count: (what: keyof Remote) => void): void {
  const to = pool.to.bind(pool);
  pool.to = (target) => {
    const remote = to(target);
    const counted =
      <Given extends readonly unknown[], Result>(what: keyof Remote, work: (...given: Given) => Result) =>
      (...given: Given): Result => {
        count(what);
        return work(...given);
      };
    const all: Remote = {
      secrets: remote.secrets,
      run: counted('run', remote.run),
      output: counted('output', remote.output),
      script: counted('script', remote.script),
      relay: counted('relay', remote.relay),
      stream: counted('stream', remote.stream),
      writeFile: counted('writeFile', remote.writeFile),
      readFile: counted('readFile', remote.readFile),
      startUnit: counted('startUnit', remote.startUnit),
      readUnit: counted('readUnit', remote.readUnit),
      stopUnit: counted('stopUnit', remote.stopUnit),
      fence: counted('fence', remote.fence),
    };
    return all;
  };
}
