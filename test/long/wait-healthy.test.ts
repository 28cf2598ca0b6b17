/** An app that listens where nobody reaches it is told while it is still waited for, not when its time is over. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { waitHealthy } from '../../src/engine/single-server/wait-healthy.ts';
import {
  type DeploymentId,
  type EnvironmentId,
  newId,
  type ServerId,
  type WorkspaceId,
} from '../../src/ids.ts';
import { labCapacity, openLab } from '../support/lab.ts';
import { connect, failsWith } from '../support/remote.ts';
import { hangMs } from '../support/until.ts';

const lab = await openLab();

/** Far more than a test may take: one that waits until the end of it hangs, and fails. */
const startSeconds = 3_600;
const port = 3000;

const run = {
  port,
  health: { path: '/', port: null, timeoutSeconds: 2, startSeconds },
  startCommand: null,
  releaseCommand: null,
  processes: [],
  replicas: 1,
  memoryMb: 128,
  cpus: null,
  volumes: [],
  drainSeconds: 1,
  stopSeconds: 1,
  holdSeconds: 1,
  isRoot: true,
  plainKeys: [],
  askedOfServices: [],
};

/** A container that runs this, waited for as a deployment does it. */
async function waited(t: TestContext, program: string, onWarning: (sentence: string, name: string) => void) {
  const server = await lab.shared('provisioned');
  const name = `slipway-${newId<DeploymentId>()}-web-1`;
  const text = `"$(echo ${Buffer.from(program).toString('base64')} | base64 -d)"`;
  await server.ssh(`docker run --detach --name ${name} python:3-slim python3 -uc ${text}`);
  t.after(() => server.ssh(`docker rm --force ${name}`));
  const format = '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}';
  const address = (await server.ssh(`docker inspect --format '${format}' ${name}`)).trim();
  const remote = connect(t, server);
  const fence = { scope: newId<DeploymentId>(), epoch: 1 };
  await remote.fence(fence.scope, fence.epoch);
  const placement = {
    workspaceId: newId<WorkspaceId>(),
    environmentId: newId<EnvironmentId>(),
    serverId: newId<ServerId>(),
    clusterId: null,
    port: 21_000,
    network: 1,
  };
  const signal = AbortSignal.timeout(hangMs);
  return waitHealthy(
    { placement, remote, capacity: labCapacity, fence, signal },
    {
      instances: [{ name, process: 'web', address }],
      run,
      secrets: [],
      onProbe: () => undefined,
      onWarning: (sentence) => onWarning(sentence, name),
    },
  );
}

const serve = (where: string) => `
import http.server
class Good(http.server.BaseHTTPRequestHandler):
  def do_GET(self):
    self.send_response(200); self.end_headers()
def serve(address): http.server.ThreadingHTTPServer(address, Good).serve_forever()
${where}
`;

test('one that has its port on localhost alone is given up on at once, with what helps', async (t) => {
  const told: string[] = [];
  const waiting = waited(t, serve(`serve(('127.0.0.1', ${port}))`), (sentence) => told.push(sentence));
  await assert.rejects(waiting, failsWith('app_bound_to_localhost', /127\.0\.0\.1:3000 only/));
  assert.equal(told.length, 1, told.join('\n'));
  assert.match(told[0] ?? '', /0\.0\.0\.0/);
});

test('one that listens on another port is told so, and is still waited for', async (t) => {
  const server = await lab.shared('provisioned');
  const program = serve(`
import os, threading, time
threading.Thread(target=serve, args=(('0.0.0.0', 9999),), daemon=True).start()
while not os.path.exists('/go'): time.sleep(0.05)
serve(('0.0.0.0', ${port}))`);
  const told: string[] = [];
  let going: Promise<string> | undefined;
  // It opens its own port only once the warning has come: without one, nobody would ever be healthy.
  await waited(t, program, (sentence, name) => {
    told.push(sentence);
    going ??= server.ssh(`docker exec ${name} touch /go`);
  });
  await going;
  assert.match(told[0] ?? '', /listens on port 9999, but it is expected on port 3000.*settings\.port/);
});
