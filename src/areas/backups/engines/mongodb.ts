/**
 * The engine of MongoDB: experimental, it has not been proven against the real image. As with MySQL, what is loaded is
 * a data folder of its own, made by a throw-away server: collections cannot change their database in one step.
 */

import type { DockerHost } from '../../../engine/docker-host.ts';
import { Fault } from '../../../fault.ts';
import { kinds } from '../../services/kinds/kinds.ts';
import { dumpScript, loadScript, readyScript, tryScript } from './mongodb-scripts.ts';
import { inContainer } from './run-in-container.ts';
import { sqlEngine } from './sql-engine.ts';
import { unitOf } from './throw-away.ts';
import { discardVolume, swapVolumes, volumeBeside } from './throw-away-volumes.ts';

export const mongodbEngine = sqlEngine({
  kind: 'mongodb',
  format: 'mongodump archive',
  tool: 'mongodump',
  dumpArgv: ({ container }) => inContainer(container, dumpScript),
  tryOptions: [],
  tryWork: (_source, away, path) => ({ script: tryScript, args: [away, path] }),
  loadAway: ({ volume }, { beside }) => ({
    name: unitOf('load', beside),
    mark: beside,
    volume: volumeBeside(volume, beside),
    keepsVolume: true,
  }),
  loadWork: ({ container }, away, path, { begin }) => ({
    script: loadScript,
    args: [container, away, path, begin],
  }),
  clear: (site, { volume }, name) => discardVolume(site, volume, name),
  swap: async (site, { container, volume }, { beside, before }) => {
    const { stopSeconds } = kinds.mongodb;
    await swapVolumes(site, { container, volume, stopSeconds, beside, before });
    await untilReady(site, container);
  },
});

async function untilReady({ remote, signal }: DockerHost, container: string): Promise<void> {
  const argv = ['bash', '-c', readyScript, 'slipway', container];
  const { code, stderr } = await remote.run(argv, { timeoutMs: 400_000, signal });
  if (code === 0) return;
  throw new Fault('database_down', 'The database does not start with the data that is live now.', {
    evidence: stderr.toString('utf8').trim().slice(-2_000),
  });
}
