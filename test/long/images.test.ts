import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recipes } from '../../lab/images/recipes/all.ts';
import { openLab, type TestServer } from '../support/lab.ts';
import { until } from '../support/until.ts';

const lab = await openLab();

/** Asks inside the container until the answer fits, as a database needs a moment to begin. */
async function answers(server: TestServer, command: string, expected: RegExp): Promise<void> {
  let last = '';
  await until(async () => {
    const { stdout, stderr } = await server.trySsh(command);
    last = `${stdout}${stderr}`;
    return expected.test(stdout);
  }, `«${command}» to be answered`).catch((error) => {
    throw new Error(`${error.message}; the last answer was: ${last}`);
  });
}

test('the registry has every image that the lab promises, under each of its tags', async () => {
  for (const { name, tags } of recipes) {
    const answer = await fetch(`${lab.about.registry}/v2/library/${name}/tags/list`);
    const known: string[] = Object(await answer.json()).tags;
    for (const tag of tags) assert.ok(known.includes(tag), `${name}:${tag}`);
  }
});

test('databases honour the variables of the official images', async () => {
  const server = await lab.shared('docker');
  await server.ssh(
    "docker run -d --name pg -e POSTGRES_PASSWORD='a b$c' -e POSTGRES_USER=ada -e POSTGRES_DB=shop postgres:17",
  );
  const whoAndWhere = 'select current_user, current_database()';
  await answers(server, `docker exec pg psql -U ada -tAc '${whoAndWhere}' shop`, /^ada\|shop$/m);
  await server.ssh(
    'docker run -d --name maria -e MARIADB_ROOT_PASSWORD=r00t -e MARIADB_DATABASE=shop -e MARIADB_USER=ada -e MARIADB_PASSWORD=pw mariadb:11',
  );
  await answers(server, "docker exec maria mariadb -uada -ppw shop -Ne 'select database()'", /^shop$/m);
  await server.ssh('docker run -d --name redis redis:8 redis-server --requirepass pw');
  await answers(server, 'docker exec redis redis-cli -a pw --no-auth-warning ping', /^PONG$/m);
  const refused = await server.trySsh('docker run --rm postgres:17');
  assert.notEqual(refused.code, 0);
  assert.match(refused.stderr, /POSTGRES_PASSWORD/);
});

test('proxies answer, and end when they are told to', async () => {
  const server = await lab.shared('docker');
  await server.ssh('docker run -d --name web -p 8081:80 nginx');
  const page = () => fetch(`http://${server.about.address}:8081/`).catch(() => undefined);
  assert.equal((await until(page, 'nginx to answer')).status, 200);
  const config =
    'defaults\n mode http\n timeout client 5s\n timeout server 5s\n timeout connect 5s\nfrontend f\n bind :8080\n http-request return status 200 content-type text/plain string proxied\n';
  await server.ssh('mkdir -p proxy && cat > proxy/haproxy.cfg', config);
  await server.ssh(
    'docker run -d --name proxy -p 8082:8080 -v /root/proxy:/usr/local/etc/haproxy:ro haproxy:3.0',
  );
  const proxied = () => fetch(`http://${server.about.address}:8082/`).catch(() => undefined);
  assert.equal(await (await until(proxied, 'HAProxy to answer')).text(), 'proxied');
  await server.ssh('docker stop web proxy');
  const codes = await server.ssh("docker inspect --format '{{.State.ExitCode}}' web proxy");
  assert.equal(codes, '0\n0\n');
});
