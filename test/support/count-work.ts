/** What a deployment costs, in things that can be counted: they do not depend on how busy the machine is. */
import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import pg from 'pg';
import type { Remote, RemotePool } from '../../src/remote/remote.ts';

export interface CountedWork {
  /** Exchanges with servers. */
  trips: number;
  /** Of ours; what git starts itself is not among them. */
  gitProcesses: number;
  /** With the begin and the end of transactions, and what the service does beside. */
  statements: number;
}

/** Counts from now on, until it is ended. */
export function countWork(pool: RemotePool): { readonly counted: CountedWork; end(): void } {
  const counted: CountedWork = { trips: 0, gitProcesses: 0, statements: 0 };
  let isCounting = true;
  countTrips(pool, () => {
    if (isCounting) counted.trips += 1;
  });
  const onProcess = (message: unknown) => {
    const { spawnargs = [] }: Partial<ChildProcess> = Object(Object(message).process);
    if (spawnargs.some((each) => each.includes('exec git'))) counted.gitProcesses += 1;
  };
  subscribe('child_process', onProcess);
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
    counted.statements += 1;
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
export function countTrips(pool: RemotePool, count: () => void): void {
  const to = pool.to.bind(pool);
  pool.to = (target) => {
    const remote = to(target);
    const counted =
      <Given extends readonly unknown[], Result>(work: (...given: Given) => Result) =>
      (...given: Given): Result => {
        count();
        return work(...given);
      };
    const all: Remote = {
      secrets: remote.secrets,
      run: counted(remote.run),
      output: counted(remote.output),
      script: counted(remote.script),
      relay: counted(remote.relay),
      stream: counted(remote.stream),
      writeFile: counted(remote.writeFile),
      readFile: counted(remote.readFile),
      startUnit: counted(remote.startUnit),
      readUnit: counted(remote.readUnit),
      stopUnit: counted(remote.stopUnit),
      fence: counted(remote.fence),
    };
    return all;
  };
}
