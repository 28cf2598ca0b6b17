/**
 * What the drill stands on, beside the ground of the fault trials: an environment with databases whose content is
 * known, one that is stopped, started and named, a domain that is proven, a second server, a cluster of three more, and a
 * folder for backups that both processes of the service share. The database is read directly, too: history is judged by what was written.
 */
import { rmSync } from 'node:fs';
import type { LabClient } from '../../lab/client.ts';
import type { LabDescription, ServerDescription } from '../../lab/description.ts';
import { Fault } from '../../src/fault.ts';
import { createLog } from '../../src/log.ts';
import { connectDatabase, type Database } from '../../src/store/database.ts';
import type { TrialDatabase } from '../faults/database.ts';
import { type Body, type Created, Ground } from '../faults/ground.ts';
import { temporaryFolder } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { type ClusterPlace, makeCluster } from './cluster-lanes.ts';
import { Console } from './console.ts';
import type { LaneName } from './tasks.ts';

export interface DataPlace extends Created {
  readonly main: string;
  readonly cache: string;
}

export type Outage = Pick<TrialDatabase, 'stop' | 'start'>;

/** What the data environment has from the beginning. */
export const wantedServices = [
  { kind: 'postgres', name: 'main', memoryMb: 128 },
  { kind: 'redis', name: 'cache', memoryMb: 64 },
] as const;

export class Scene {
  readonly ground: Ground;
  readonly about: LabDescription;
  readonly console: Console;
  readonly db: Database;
  /** Undefined: it cannot be taken away. */
  readonly outage: Outage | undefined;
  readonly backupFolder: string;
  readonly lanes: readonly LaneName[];
  data: DataPlace | undefined;
  side: Created | undefined;
  /** Leads to the side environment now and then. */
  hostname = 'nobody.test';
  second: { readonly server: ServerDescription; id: string } | undefined;
  cluster: ClusterPlace | undefined;
  /** Servers beside the ground's own. */
  readonly #more: ServerDescription[] = [];

  private constructor(
    ground: Ground,
    about: LabDescription,
    db: Database,
    outage: Outage | undefined,
    backupFolder: string,
    lanes: readonly LaneName[],
  ) {
    this.ground = ground;
    this.about = about;
    this.console = new Console(ground);
    this.db = db;
    this.outage = outage;
    this.backupFolder = backupFolder;
    this.lanes = lanes;
  }

  static async open(
    lab: LabClient,
    about: LabDescription,
    { url, outage }: { readonly url: string; readonly outage?: Outage },
    lanes: readonly LaneName[],
  ): Promise<Scene> {
    const backupFolder = temporaryFolder('drill-backups');
    const settings = {
      SLIPWAY_BACKUP_DIR: backupFolder,
      // So that what a restore replaces is let go within the next minute, by an operation of its own.
      SLIPWAY_BACKUP_KEEP_REPLACED_DAYS: '0',
      SLIPWAY_DNS_SERVERS: `${about.dns.address}:${about.dns.port}`,
      SLIPWAY_ACME_DIRECTORY: about.acme.directory,
      SLIPWAY_ACME_CA_FILE: about.acme.caFile,
      // Seven lanes ask for more than a person does.
      SLIPWAY_LIMIT_SEARCH: '1000',
      SLIPWAY_LIMIT_OPERATIONS_PER_SERVER: '6',
      SLIPWAY_LIMIT_OPERATIONS_PER_WORKSPACE: '20',
    };
    const ground = await Ground.open(lab, about, url, { settings });
    const db = connectDatabase({ connectionString: url }, createLog('silent'));
    const scene = new Scene(ground, about, db, outage, backupFolder, lanes);
    try {
      await scene.#furnish();
      return scene;
    } catch (error) {
      await scene.close();
      throw error;
    }
  }

  async #furnish(): Promise<void> {
    const { ground, lanes } = this;
    if (lanes.includes('data')) {
      const made = await ground.create('data', wantedServices);
      const { items } = await ground.call('GET', `/environments/${made.environmentId}/services`);
      const idOf = (name: string) => String(list(items).find((each) => each.name === name)?.id);
      this.data = { ...made, main: idOf('main'), cache: idOf('cache') };
    }
    if (lanes.includes('side')) {
      this.side = await ground.create('side');
      await this.#prove();
    }
    if (lanes.includes('server')) {
      const server = await ground.lab.addServer('provisioned');
      this.#more.push(server);
      this.second = { server, id: '' };
      this.second.id = await ground.addServer(server);
    }
    if (lanes.includes('cluster')) this.cluster = await makeCluster(ground, this.#more);
  }

  async #prove(): Promise<void> {
    const { ground, about } = this;
    const zone = `drill-${process.pid}-${Date.now().toString(36)}.${about.dns.zone}`;
    this.hostname = `shop.${zone}`;
    const { id, verification } = await ground.call('POST', '/domains', { hostname: zone });
    const { name, value } = Object(verification);
    await ground.lab.call('PUT', '/dns', { name: this.hostname, type: 'A', values: [ground.server.address] });
    await ground.lab.call('PUT', '/dns', { name, type: 'TXT', values: [value] });
    await until(
      async () => (await ground.call('POST', `/domains/${id}/verify`)).status === 'verified',
      'the domain to be proven',
    );
  }

  /** Every environment of the first server that lasts, with the repository that it is deployed from. */
  get environments(): { readonly id: string; readonly repository: string }[] {
    const { ground, data, side } = this;
    return [
      { id: ground.environmentId, repository: 'one' },
      { id: ground.otherId, repository: 'other' },
      ...(data ? [{ id: data.environmentId, repository: 'data' }] : []),
      ...(side ? [{ id: side.environmentId, repository: 'side' }] : []),
    ];
  }

  /** Once it has ended, however. */
  operation(id: unknown, withinMs = 400_000): Promise<Body> {
    return until(
      async () => {
        const found = await this.ground.call('GET', `/operations/${id}`);
        if (found.finishedAt !== null) return found;
        await new Promise((resolve) => setTimeout(resolve, 150));
        return undefined;
      },
      `operation ${id} to end`,
      withinMs,
    );
  }

  /** A question to the database, which is away on purpose now and then. */
  async patiently<T>(ask: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof Fault) || error.code !== 'database_unavailable') throw error;
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    }
  }

  endNow(): void {
    this.ground.endNow();
  }

  async close(): Promise<void> {
    await this.ground.close();
    await this.db.close();
    for (const { name } of this.#more) await this.ground.lab.removeServer(name);
    rmSync(this.backupFolder, { recursive: true, force: true });
  }
}

export function list(items: unknown): Body[] {
  return Array.isArray(items) ? items : [];
}
