import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { Resolver } from 'node:dns/promises';
import { connect } from 'node:net';
import { test } from 'node:test';
import { run } from '../../lab/command.ts';
import { openLab } from '../support/lab.ts';
import { until } from '../support/until.ts';

const lab = await openLab();

test('a server that is cut says nothing and closes nothing; healed, the same connection goes on', async (t) => {
  const server = await lab.shared('bare');
  const { name } = server.about;
  // One line for every line it gets, over a connection that stays open throughout.
  const session = spawn('ssh', [...server.sshArguments, 'while read -r line; do echo "got $line"; done']);
  t.after(() => session.kill('SIGKILL'));
  let heard = '';
  session.stdout.setEncoding('utf8').on('data', (text: string) => {
    heard += text;
  });
  session.stdin.write('one\n');
  await until(() => heard.includes('got one'), 'the first answer');

  await lab.client.cut(name);
  session.stdin.write('two\n');
  const probe = connect({ host: server.about.address, port: 22 });
  t.after(() => probe.destroy());
  const events: string[] = [];
  for (const event of ['connect', 'error', 'close']) probe.once(event, () => events.push(event));
  // Refusals and resets of a network that is up take well under this.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  assert.deepEqual(events, []);
  assert.equal(heard, 'got one\n');
  assert.equal(session.exitCode, null);

  await lab.client.heal(name);
  await until(() => heard.includes('got two'), 'the second answer');
  assert.equal(heard, 'got one\ngot two\n');
});

test('records that a test sets are seen by this machine, by servers and by containers on them', async (t) => {
  const server = await lab.server(t, 's1');
  const name = `seen.${lab.about.dns.zone}`;
  await lab.client.call('PUT', '/dns', { name, type: 'A', values: ['192.0.2.77'] });
  t.after(() => lab.client.call('DELETE', `/dns?name=${name}`));
  const resolver = new Resolver();
  resolver.setServers([`${lab.about.dns.address}:${lab.about.dns.port}`]);
  assert.deepEqual(await resolver.resolve4(name), ['192.0.2.77']);
  assert.match(await server.ssh(`getent hosts ${name}`), /^192\.0\.2\.77 /);
  assert.match(
    await server.ssh(`docker run --rm debian:trixie-slim getent hosts ${name}`),
    /^192\.0\.2\.77 /,
  );
});

test('what runs on a server reaches the lab’s services, but cannot steer the lab', async () => {
  const server = await lab.shared('bare');
  const status = (url: string) => server.ssh(`curl -s -o /dev/null -w '%{http_code}' ${url}`);
  assert.equal(await status(`${lab.about.catcher}/hello`), '200');
  assert.equal(await status(`${lab.about.registry}/v2/`), '200');
  assert.equal(await status(lab.about.control), '403');
});

test('a packet to the lab never leaves the machine, even where no server answers', async () => {
  const routes = await run('ip', ['route', 'show', 'exact', lab.about.cidr]);
  assert.match(routes, /^unreachable .* metric 4294967295/m);
});
