import assert from 'node:assert/strict';
import { test } from 'node:test';
import { servicesKind } from '../../src/areas/services/change-services.ts';
import { createServices } from '../../src/areas/services/create-services.ts';
import { listedServices } from '../../src/areas/services/read-services.ts';
import { sql } from '../../src/store/sql.ts';
import { masterKeys } from '../support/database.ts';
import { openLab } from '../support/lab.ts';
import { failAtEachStep, killAtEachWrite, runEachStepTwice } from '../support/operation-trials.ts';
import { OperationBench } from '../support/operations.ts';
import { pinOf } from '../support/remote.ts';
import { addServer, serversContext } from '../support/servers-context.ts';
import { addEnvironment } from '../support/service-scene.ts';

const lab = await openLab();

test('work on services that fails, repeats itself or is killed after any step’s work ends with one container and its volume each', async (t) => {
  const server = await lab.fresh(t, 'docker');
  const bench = await OperationBench.open(t);
  const { db, workspaceId } = bench;
  const ctx = await serversContext(t, { url: bench.databaseUrl, db }, masterKeys(7));
  const way = { host: server.about.address, hostKey: pinOf(server) };
  const { id: serverId, publicKey } = await addServer(ctx, workspaceId, way);
  await db.run(sql`update servers set check_at = now() + interval '1 day' where id = ${serverId}`);
  await server.ssh(`echo '${publicKey}' >> /root/.ssh/authorized_keys; docker pull --quiet redis:8`);
  const environmentId = await addEnvironment(db, workspaceId, serverId);
  const wish = { input: { environmentId, deleteData: true }, serverId, queueKey: environmentId };

  const trial = {
    kind: servicesKind,
    steps: ['ensure', 'delete_data'],
    afterWorkOnly: true,
    begin: async () => {
      await server.ssh(`docker ps -aq | xargs -r docker rm --force > /dev/null
        docker volume ls -q | xargs -r docker volume rm > /dev/null`);
      await db.run(sql`delete from services where workspace_id = ${workspaceId}`);
      const wanted = [{ kind: 'redis' }, { kind: 'redis', name: 'old' }] as const;
      await db.transaction((tx) => createServices(tx, workspaceId, environmentId, wanted, new Date()));
      const old = await db.one<{ id: string }>(sql`
        update services set removed_at = now(), status = 'removed', server_id = ${serverId}, data_version = '8'
        where workspace_id = ${workspaceId} and name = 'old' returning id`);
      const label = (name: string, value: string) => `--label ${name}=${value}`;
      const ours = `${label('slipway.workspace', workspaceId)} ${label('slipway.environment', environmentId)}`;
      await server.ssh(`docker volume create ${label('slipway', 'volume')} ${ours} slipway-${old?.id}
        docker create ${label('slipway', 'service')} ${ours} -v slipway-${old?.id}:/data --name slipway-${old?.id} redis:8`);
      return wish;
    },
    check: async (how: 'succeeded' | 'failed', what: string) => {
      if (how === 'failed') {
        const id = await bench.enqueue(wish.input, { ...wish, kind: servicesKind });
        const row = await bench.ended(id);
        assert.equal(row.state, 'succeeded', `${what}, then: ${JSON.stringify(row.fault)}`);
      }
      const services = await listedServices(db, workspaceId, environmentId);
      assert.deepEqual(
        services.map(({ name, status, problem }) => [name, status, problem]),
        [['redis', 'running', null]],
        what,
      );
      const name = `slipway-${services[0]?.id}`;
      const seen = await server.ssh("docker ps -a --format '{{.Names}} {{.State}}'; docker volume ls -q");
      assert.equal(seen.trim(), `${name} running\n${name}`, what);
    },
  };
  await failAtEachStep(bench, trial);
  await runEachStepTwice(bench, trial);
  await killAtEachWrite(bench, trial);
});
