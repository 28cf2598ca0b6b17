/**
 * The engine of PostgreSQL: pg_dump's own format out of an exported snapshot, loaded into a second database of the same
 * cluster, which is then renamed in exchange with the live one.
 */

import { type DockerHost, lostWithDocker } from '../../../../engine/docker-host.ts';
import { Fault } from '../../../../fault.ts';
import { databaseEngine } from '../database-engine.ts';
import { databaseDown, inContainer } from '../dump.ts';
import type { ServiceSource } from '../engine.ts';
import { unitOf } from '../run-unit.ts';
import { statsInSnapshot, statsNow } from './postgres-content-stats.ts';
import {
  dropStatement,
  haltLoad,
  haltVerify,
  postgresDumpScript,
  postgresLoadScript,
  postgresVerifyScript,
  statementsScript,
  swapStatements,
} from './postgres-scripts.ts';

/** A scratch database need not survive a loss of power. */
const withoutDurability = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_wal_size=2GB'];
const options = withoutDurability.flatMap((each) => ['-c', each]);

export const postgresEngine = databaseEngine({
  kind: 'postgres',
  format: 'pg_dump custom',
  tool: 'pg_dump',
  dumpArgv: ({ container }) => inContainer(container, postgresDumpScript, [statsInSnapshot]),
  verifyScratch: { options },
  verifyScript: ({ container }, scratch, path) => ({
    script: postgresVerifyScript,
    args: [container, scratch, path, statsNow],
    halt: haltVerify,
  }),
  loadScratch: (_source, { staging, content }) => {
    if (content === 'dump') return null;
    const name = unitOf('load', staging);
    return { id: staging, name, volume: name, options };
  },
  loadScript: ({ container }, scratch, path, { staging, base, content }) => ({
    script: postgresLoadScript,
    args: [container, scratch, path, staging, base, content],
    halt: haltLoad,
  }),
  discard: (host, source, name) => runStatements(host, source, dropStatement, { name }),
  swap: (host, source, names) => runStatements(host, source, swapStatements, names),
});

async function runStatements(
  { remote, signal }: DockerHost,
  { container }: ServiceSource,
  statements: string,
  { name = '', staging = '', previous = '' }: { name?: string; staging?: string; previous?: string },
): Promise<void> {
  const argv = ['docker', 'exec', container, 'sh', '-euc', statementsScript, 'sh'];
  const { code, stderr } = await remote.run([...argv, statements, name, staging, previous], {
    timeoutMs: 300_000,
    signal,
  });
  if (code === 0) return;
  const evidence = stderr.toString('utf8').trim().slice(-2_000);
  throw (
    lostWithDocker(evidence) ??
    databaseDown(evidence) ??
    new Fault('restore_failed', 'The databases could not be swapped; what was live is live.', { evidence })
  );
}
