// @ts-nocheck
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { addressIn, networkName, serviceContainer, serviceVolume } from '../../src/areas/releases/place.ts';
import { ensureServices } from '../../src/areas/services/ensure-services.ts';
import { lookAtServices } from '../../src/areas/services/look-at-services.ts';
import { listedServices } from '../../src/areas/services/read-services.ts';
import { deleteRemoved, removeServices, stopServices } from '../../src/areas/services/stop-services.ts';
import type { ServiceId } from '../../src/ids.ts';
import { openLab, type TestServer } from '../support/lab.ts';
import { failsWith } from '../support/remote.ts';
import { type ServiceScene, serviceScene } from '../support/service-scene.ts';

const lab = await openLab();

const all = [
  { kind: 'postgres', name: 'main', memoryMb: 128 },
  { kind: 'mariadb', name: 'orders', memoryMb: 256 },
  { kind: 'redis', version: '8.0', memoryMb: 64 },
] as const;

interface Client {
  readonly image: string;
  readonly argv: (url: URL, statement: string) => string;
}

/** Statements of these tests have no quote in them. */
const clients: Readonly<Record<string, Client>> = {
  postgresql: { image: 'postgres:17', argv: ({ href }, text) => `psql '${href}' -Atc '${text}'` },
  mysql: {
    image: 'mariadb:11.8',
    argv: ({ hostname, username, password }, text) =>
      `mariadb -h ${hostname} -u ${username} -p${password} --skip-ssl -N -e '${text}' app`,
  },
  redis: { image: 'redis:8.0', argv: ({ href }, text) => `redis-cli --no-auth-warning -u '${href}' ${text}` },
};

/** As the application would: from a container on the environment's network, with the URL that it gets. */
function client(server: TestServer, scene: ServiceScene, network = networkName(scene.site.place)) {
  return (url: string, statement: string) => {
    const parsed = new URL(url);
    const { image, argv } = clients[parsed.protocol.slice(0, -1)] ?? assert.fail(url);
    return server.trySsh(
      `timeout 20 docker run --rm --env PGCONNECT_TIMEOUT=5 --network ${network} --entrypoint '' ${image} ${argv(parsed, statement)} 2>&1`,
    );
  };
}

async function containerIds(server: TestServer): Promise<string[]> {
  const listed = await server.ssh('docker ps -q --no-trunc --filter label=slipway=service');
  return listed.split('\n').filter(Boolean).sort();
}

async function statuses({ ctx, site }: ServiceScene): Promise<Record<string, string>> {
  const { workspaceId, environmentId } = site.place;
  const rows = await listedServices(ctx.db, workspaceId, environmentId);
  return Object.fromEntries(rows.map(({ name, status }) => [name, status]));
}

async function oneServer(t: TestContext) {
  const server = await lab.server(t, 's1');
  return { server, scene: await serviceScene(t, server) };
}

test('on Debian 12 with its older Docker it is the same', async (t) => {
  const server = await lab.fresh(t, 'bookworm');
  const scene = await serviceScene(t, server);
  const { ctx, site } = scene;
  await scene.want({ services: [{ kind: 'postgres' }, { kind: 'redis', version: '8.0' }] });
  await ensureServices(ctx, site);
  const run = client(server, scene);
  const variables = await scene.variables();
  assert.equal((await run(variables.get('DATABASE_URL') ?? '', 'select 41')).stdout.trim(), '41');
  assert.equal((await run(variables.get('REDIS_URL') ?? '', 'ping')).stdout.trim(), 'PONG');
  scene.roundTrips();
  assert.equal(await ensureServices(ctx, site), false);
  assert.equal(scene.roundTrips(), 1);
});

