import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../src/config.ts';
import { createLog } from '../src/log.ts';
import { createResources } from '../src/resources.ts';
import { startServer } from './support/egress-servers.ts';
import { faultOf } from './support/faults.ts';
import { sharedTestApp } from './support/shared-app.ts';

test('whoever runs a certificate authority cannot have the service call what is beside it', async (t) => {
  const { app, clock } = await sharedTestApp();
  const reached: string[] = [];
  const inside = await startServer(t, ({ url }, response) => {
    reached.push(url ?? '');
    response.setHeader('replay-nonce', 'nonce').end('{}');
  });
  // Of the authority's own machine, another port; and by another name of it.
  const elsewhere = [inside.url, inside.url.replace('127.0.0.1', 'localhost')];
  for (const place of elsewhere) {
    const authority = await startServer(t, (_request, response) => {
      const names = ['newNonce', 'newAccount', 'newOrder', 'revokeCert'];
      response.end(JSON.stringify(Object.fromEntries(names.map((name) => [name, `${place}/${name}`]))));
    });
    const resources = createResources({
      config: readConfig({ SLIPWAY_ACME_DIRECTORY: `${authority.url}/dir` }),
      log: createLog('silent'),
      clock,
      store: app.store,
      print: () => undefined,
      analysisLimits: undefined,
      onStop: (close) => t.after(async () => void (await close())),
    });
    const acme = await resources.acme();
    // The directory itself is where whoever runs the service has set it, and is read.
    const fault = await faultOf(() => acme.newAccount());
    assert.equal(fault.code, 'egress_refused', `${fault.message} ${fault.evidence}`);
  }
  assert.deepEqual(reached, []);
});
