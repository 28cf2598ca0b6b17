import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCertificates } from '../../src/adapters/proxy/certificates.ts';
import { ensureProxy } from '../../src/adapters/proxy/proxy.ts';
import { certificateKind } from '../../src/areas/domains/domain-work.ts';
import { ensurePlacement } from '../../src/areas/environments/placement/placements.ts';
import { type CertificateId, type DomainId, type EnvironmentDomainId, newId } from '../../src/ids.ts';
import { sql } from '../../src/store/sql.ts';
import { masterKeys } from '../support/database.ts';
import { fingerprint } from '../support/domain-world.ts';
import { openLab } from '../support/lab.ts';
import { failAtEachStep, killAtEachWrite, runEachStepTwice } from '../support/operation-trials.ts';
import { OperationBench } from '../support/operations.ts';
import { shownFor } from '../support/proxy-tls.ts';
import { connect, pinOf } from '../support/remote.ts';
import { addServer, serversContext } from '../support/servers-context.ts';
import { addEnvironment } from '../support/service-scene.ts';

const lab = await openLab();
const { about, client } = lab;

test('a certificate whose operation fails, repeats itself or is killed after any step’s work is whole in the end', async (t) => {
  const server = await lab.fresh(t, 'docker');
  const { address } = server.about;
  const bench = await OperationBench.open(t);
  const { db, workspaceId } = bench;
  const start = bench.host.bind(bench);
  bench.host = (env) =>
    start({
      SLIPWAY_ACME_DIRECTORY: about.acme.directory,
      SLIPWAY_ACME_CA_FILE: about.acme.caFile,
      SLIPWAY_DNS_SERVERS: `${about.dns.address}:${about.dns.port}`,
      ...env,
    });
  const ctx = await serversContext(t, { url: bench.databaseUrl, db }, masterKeys(7));
  const way = { host: address, hostKey: pinOf(server) };
  const { id: serverId, publicKey } = await addServer(ctx, workspaceId, way);
  await db.run(sql`update servers set check_at = now() + interval '1 day' where id = ${serverId}`);
  await server.ssh(`echo '${publicKey}' >> /root/.ssh/authorized_keys`);
  const remote = connect(t, server);
  await ensureProxy(remote, t.signal);
  const environmentId = await addEnvironment(db, workspaceId, serverId);
  await db.transaction((tx) => ensurePlacement(tx, workspaceId, environmentId, serverId, new Date()));

  const hostname = `kill-${process.pid}.${about.dns.zone}`;
  await client.call('PUT', '/dns', { name: hostname, type: 'A', values: [address] });
  t.after(() => client.call('DELETE', `/dns?name=${hostname}`));
  const [domainId, id] = [newId<DomainId>(), newId<CertificateId>()];
  await db.run(sql`
    insert into domains (workspace_id, id, hostname, status, token, check_at, created_at, updated_at)
    values (${workspaceId}, ${domainId}, ${hostname}, 'verified', 'x', now() + interval '1 day', now(), now())`);
  await db.run(sql`
    insert into certificates (workspace_id, id, source, names, status, created_at, updated_at)
    values (${workspaceId}, ${id}, 'acme', ${[hostname]}, 'pending', now(), now())`);
  await db.run(sql`
    insert into environment_domains (workspace_id, id, environment_id, domain_id, hostname, ssl_mode, certificate_id,
      redirect_http, www, created_at, updated_at)
    values (${workspaceId}, ${newId<EnvironmentDomainId>()}, ${environmentId}, ${domainId}, ${hostname}, 'auto', ${id},
      true, 'none', now(), now())`);

  const wish = { input: { certificateId: id }, queueKey: id };
  let before: string | null = null;
  const trial = {
    kind: certificateKind,
    afterWorkOnly: true,
    begin: async () => {
      const row = await db.one<{ chain: string | null }>(sql`
        update certificates set status = 'pending', renew_at = null where id = ${id} returning chain`);
      before = row?.chain ?? null;
      return wish;
    },
    check: async (how: 'succeeded' | 'failed', what: string) => {
      if (how === 'failed') {
        // Whatever is shown is whole, and the next run ends well.
        const [seen] = (await readCertificates({ remote, signal: t.signal })).filter(
          (each) => each.id === id,
        );
        assert.ok(seen === undefined || seen.agrees, what);
        const again = await bench.ended(await bench.enqueue(wish.input, { ...wish, kind: certificateKind }));
        assert.equal(again.state, 'succeeded', `${what}, then: ${JSON.stringify(again.fault)}`);
      }
      const row = await db.one<{ status: string; chain: string; fault: unknown; renewAt: Date | null }>(sql`
        select status, chain, fault, renew_at as "renewAt" from certificates where id = ${id}`);
      assert.deepEqual([row?.status, row?.fault], ['issued', null], what);
      assert.ok(row && row.chain !== before && row.renewAt, what);
      assert.equal(await shownFor(address, hostname), fingerprint(row.chain), what);
      const seen = await readCertificates({ remote, signal: t.signal });
      assert.deepEqual(
        seen.map((each) => [each.id, each.agrees, each.fingerprint]),
        [[id, true, fingerprint(row.chain)]],
        what,
      );
    },
  };
  await failAtEachStep(bench, trial);
  await runEachStepTwice(bench, trial);
  t.diagnostic(`${await killAtEachWrite(bench, trial)} kills`);
});
