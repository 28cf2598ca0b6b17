/**
 * The engine of MariaDB and MySQL. A dump is one InnoDB snapshot. Neither can rename a database, so what is loaded is
 * a whole data folder of its own, made by a throw-away server in a second volume; the folders change places while the
 * service is stopped. What an upload does in there reaches nothing else.
 */

import type { DockerHost } from '../../../engine/docker-host.ts';
import { Fault } from '../../../fault.ts';
import { kinds } from '../../services/kinds/kinds.ts';
import type { Engine } from './engine.ts';
import { figuresBody, figuresSettings } from './mariadb-figures.ts';
import { inContainer } from './run-in-container.ts';
import { sqlEngine } from './sql-engine.ts';
import {
  dumpScript,
  figuresStatements,
  loadScript,
  type Names,
  readyScript,
  tryScript,
} from './sql-mysql-scripts.ts';
import { type ServiceSource, unitOf } from './throw-away.ts';
import { discardVolume, swapVolumes, volumeBeside } from './throw-away-volumes.ts';

const hasty = ['--skip-log-bin', '--innodb-flush-log-at-trx-commit=0'];

export function mysqlFamilyEngine(kind: 'mariadb' | 'mysql', format: string, names: Names): Engine {
  const words = [names.client, names.dump, names.prefix];
  // To load the names of time zones takes longer than all the rest: a trial needs none, and a load copies the live ones.
  const withoutZones = { [`${names.prefix}_INITDB_SKIP_TZINFO`]: '1' };
  return sqlEngine({
    kind,
    format,
    tool: names.dump,
    dumpArgv: ({ container }) =>
      inContainer(container, dumpScript, [
        ...words,
        names.options,
        names.lock,
        names.unlock,
        figuresSettings,
        figuresBody,
      ]),
    tryVariables: withoutZones,
    tryOptions: hasty,
    tryWork: (_source, away, path) => ({
      script: tryScript,
      args: [...words, away, path, figuresStatements],
    }),
    loadAway: ({ volume }, { beside }) => ({
      name: unitOf('load', beside),
      mark: beside,
      volume: volumeBeside(volume, beside),
      keepsVolume: true,
      options: hasty,
      variables: withoutZones,
    }),
    loadWork: ({ container }, away, path, { begin, content }) => ({
      script: loadScript,
      args: [...words, names.options, container, away, path, begin, content],
    }),
    clear: (site, { volume }, name) => discardVolume(site, volume, name),
    swap: async (site, source, { beside, before }) => {
      const { container, volume } = source;
      const { stopSeconds } = kinds[kind];
      await swapVolumes(site, { container, volume, stopSeconds, beside, before });
      await untilReady(site, source, words);
    },
  });
}

async function untilReady(
  { remote, signal }: DockerHost,
  { container }: ServiceSource,
  words: readonly string[],
) {
  const { code, stderr } = await remote.run(['bash', '-c', readyScript, 'slipway', ...words, container], {
    timeoutMs: 400_000,
    signal,
  });
  if (code === 0) return;
  throw new Fault('database_down', 'The database does not start with the data that is live now.', {
    evidence: stderr.toString('utf8').trim().slice(-2_000),
  });
}
