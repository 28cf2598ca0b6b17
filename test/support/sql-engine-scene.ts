/** A database on a lab's server as a service would have it, and the engine that backs it up. */
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { TestContext } from 'node:test';
import { run } from '../../lab/command.ts';
import { ask } from '../../src/adapters/docker/ask.ts';
import { startContainer } from '../../src/adapters/docker/containers.ts';
import { createVolume } from '../../src/adapters/docker/volumes.ts';
import type { Dump, Engine, ServerFile, ServiceSource } from '../../src/areas/backups/engines/engine.ts';
import { mariadbEngine } from '../../src/areas/backups/engines/mysql/mysql.ts';
import { postgresEngine } from '../../src/areas/backups/engines/postgres/postgres.ts';
import { imageOf, kinds } from '../../src/areas/services/kinds/kinds.ts';
import { createCalls, type DockerHost } from '../../src/engine/docker-host.ts';
import { serviceContainer, serviceVolume } from '../../src/engine/placement.ts';
import {
  type EnvironmentId,
  newId,
  type OperationId,
  type ServerId,
  type ServiceId,
  type WorkspaceId,
} from '../../src/ids.ts';
import { Secret } from '../../src/secret.ts';
import { awkwardMariadb, awkwardPostgres, mariadbSums, postgresSums } from './awkward-data.ts';
import { labCapacity, type TestServer } from './lab.ts';
import { connect } from './remote.ts';

export const quiet = { log: () => undefined, fraction: () => undefined };

export interface EngineScene {
  readonly server: TestServer;
  readonly site: DockerHost;
  readonly source: ServiceSource;
  readonly engine: Engine;
  /** Statements by the database's own client in its container; what it prints. */
  sql(statements: string, database?: string): Promise<string>;
  fill(rows: number): Promise<void>;
  /** Of everything that is in it. */
  sums(): Promise<string>;
  /** To a file here. */
  save(dump: Dump): Promise<string>;
  /** A file of this machine, as an operation would have put it on the server. */
  put(path: string, name: string): Promise<ServerFile>;
  /** Processes of a name in the database's container. */
  running(name: string): Promise<number>;
  /** Everything of trials and loads that is still there. */
  leftovers(): Promise<string>;
}

export async function engineScene(
  t: TestContext,
  server: TestServer,
  kind: 'postgres' | 'mariadb',
  memoryMb = 512,
): Promise<EngineScene> {
  const remote = connect(t, server);
  const id = newId<ServiceId>();
  const placement = {
    workspaceId: newId<WorkspaceId>(),
    environmentId: newId<EnvironmentId>(),
    serverId: newId<ServerId>(),
    clusterId: null,
    port: 20_001,
    network: 1,
  };
  const fence = { scope: newId<OperationId>(), epoch: 1 };
  const site = { placement, remote, capacity: labCapacity, fence, signal: t.signal };
  const of = kinds[kind];
  const version = of.defaultVersion;
  const credentials = { password: new Secret('a$pass"w\'ord'), adminPassword: new Secret('root$pa"ss') };
  const source: ServiceSource = {
    type: 'service',
    kind,
    version,
    image: imageOf(kind, version),
    credentials,
    memoryMb,
    container: serviceContainer(id),
    volume: serviceVolume(id),
    volumePath: of.volumePath(version),
  };
  await server.ssh(`docker pull -q ${source.image}`);
  // Its names of time zones take longer to load than all the rest.
  const environment = new Map([
    ...of.environment(credentials),
    ['MARIADB_INITDB_SKIP_TZINFO', new Secret('1')],
  ]);
  const wanted = {
    name: source.container,
    image: source.image,
    labels: { slipway: 'service' },
    network: 'none',
    environment,
    command: of.command(memoryMb, version),
    memoryMb,
    cpus: null,
    volumes: [{ volume: source.volume, path: source.volumePath }],
    restart: 'unless-stopped',
    stopSeconds: of.stopSeconds,
    capabilities: of.capabilities,
  } as const;
  const making = [createVolume(source.volume, {}), ...(await createCalls(site, [wanted]))];
  await ask(remote, [...making, startContainer(source.container)]);
  const ready =
    kind === 'postgres' ? 'pg_isready -qh 127.0.0.1' : 'mariadb-admin --protocol=tcp -h127.0.0.1 ping';
  await server.ssh(`until docker exec ${source.container} ${ready} >/dev/null 2>&1; do sleep 0.2; done`);
  // With whatever still writes to it: the next test of the file has the same server.
  t.after(() =>
    server.ssh(`docker rm --force --volumes ${source.container}; docker volume rm ${source.volume}`),
  );
  const scratch = await mkdtemp(join(tmpdir(), 'slipway-engine-'));
  t.after(() => rm(scratch, { recursive: true, force: true }));
  const client =
    kind === 'postgres'
      ? `sh -c 'exec psql -XqAt -v ON_ERROR_STOP=1 -U app -d "$1" -f -' sh`
      : `sh -c 'MYSQL_PWD=$MARIADB_ROOT_PASSWORD exec mariadb -uroot --binary-mode -NB "$1"' sh`;
  const sql = (statements: string, database = 'app') =>
    server.ssh(`docker exec -i ${source.container} ${client} ${database}`, statements);
  let files = 0;
  return {
    server,
    site,
    source,
    sql,
    engine: kind === 'postgres' ? postgresEngine : mariadbEngine,
    fill: async (rows) => void (await sql((kind === 'postgres' ? awkwardPostgres : awkwardMariadb)(rows))),
    sums: () => sql(kind === 'postgres' ? postgresSums : mariadbSums),
    save: async ({ content }) => {
      files += 1;
      const path = join(scratch, `dump-${files}`);
      await pipeline(content, createWriteStream(path));
      return path;
    },
    put: async (from, name) => {
      const folder = `/var/lib/slipway/backups/${id}`;
      await server.ssh(`mkdir -p ${folder}`);
      await run('scp', [
        '-q',
        ...server.sshOptions,
        from,
        `${server.about.user}@${server.about.address}:${folder}/${name}`,
      ]);
      return { path: `${folder}/${name}`, bytes: (await stat(from)).size };
    },
    running: async (name) => {
      const { stdout } = await server.trySsh(
        `docker exec ${source.container} sh -c 'cat /proc/[0-9]*/comm' | grep -cx ${name}`,
      );
      return Number(stdout.trim());
    },
    leftovers: () =>
      server.ssh(`docker ps -aq --filter label=slipway.mark; docker volume ls -q --filter label=slipway.mark
        ls /var/lib/slipway/units 2>/dev/null | grep -E 'verify|load' || true`),
  };
}

/** Loads what a user uploads, each into a staging copy of its own, and gives back that one's name. */
export async function uploads(scene: EngineScene) {
  const { engine, site, source, save, put } = scene;
  const local = await save(await engine.dump(site, source));
  let number = 0;
  return async (content: string | Buffer, mostBytes = 10e9): Promise<string> => {
    number += 1;
    const staging = `staging_${number}`;
    await writeFile(local, content);
    const input = { staging, base: 'empty', content: 'upload', mostBytes } as const;
    await engine.loadStaging(site, source, await put(local, `upload-${number}`), input, quiet);
    return staging;
  };
}
