/**
 * The engine of PostgreSQL: pg_dump's own format out of an exported snapshot, loaded into a second database of the same
 * cluster, which then changes its name with the live one.
 */

import type { DockerHost } from '../../../engine/docker-host.ts';
import { Fault } from '../../../fault.ts';
import { figuresInSnapshot, figuresNow } from './postgres-figures.ts';
import {
  dropStatement,
  dumpScript,
  loadScript,
  statementsScript,
  swapStatements,
  tryScript,
} from './postgres-scripts.ts';
import { inContainer, isNoAnswer } from './run-in-container.ts';
import { sqlEngine } from './sql-engine.ts';
import { type ServiceSource, unitOf } from './throw-away.ts';

/** What is lost with the power is a throw-away's. */
const hasty = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_wal_size=2GB'];

export const postgresEngine = sqlEngine({
  kind: 'postgres',
  format: 'pg_dump custom',
  tool: 'pg_dump',
  dumpArgv: ({ container }) => inContainer(container, dumpScript, [figuresInSnapshot]),
  tryOptions: hasty.flatMap((each) => ['-c', each]),
  tryWork: ({ container }, away, path) => ({
    script: tryScript,
    args: [container, away, path, figuresNow],
  }),
  loadAway: (_source, { beside, content }) => {
    if (content === 'dump') return null;
    const name = unitOf('load', beside);
    return { name, mark: beside, volume: name, options: hasty.flatMap((each) => ['-c', each]) };
  },
  loadWork: ({ container }, away, path, { beside, begin, content }) => ({
    script: loadScript,
    args: [container, away, path, beside, begin, content],
  }),
  clear: (site, source, name) => runStatements(site, source, dropStatement, { name }),
  swap: (site, source, names) => runStatements(site, source, swapStatements, names),
});

async function runStatements(
  { remote, signal }: DockerHost,
  { container }: ServiceSource,
  statements: string,
  { name = '', beside = '', before = '' }: { name?: string; beside?: string; before?: string },
): Promise<void> {
  const argv = ['docker', 'exec', container, 'sh', '-euc', statementsScript, 'sh'];
  const { code, stderr } = await remote.run([...argv, statements, name, beside, before], {
    timeoutMs: 300_000,
    signal,
  });
  if (code === 0) return;
  const evidence = stderr.toString('utf8').trim().slice(-2_000);
  if (isNoAnswer(evidence) || /is not running|No such container/i.test(evidence))
    throw new Fault('database_down', 'The database does not answer.', { evidence });
  throw new Fault('restore_failed', 'The databases could not change places; what was live is live.', {
    evidence,
  });
}
