import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { type Body, type DeployScene, startDeployScene, succeeded } from '../support/deployments.ts';
import { openLab, type TestServer } from '../support/lab.ts';
import { placesThatHold } from '../support/secret-search.ts';
import { openStream } from '../support/sse.ts';
import { hangMs } from '../support/until.ts';

const lab = await openLab();
const newCanary = (name: string) => `canary-${name}-${randomBytes(9).toString('hex')}`;

/** An app that tells its secrets to everyone: in its build, its release command, its log, its health. */
const files = {
  Dockerfile: `FROM node:24-slim
WORKDIR /app
RUN --mount=type=secret,id=BUILD_USED test -s /run/secrets/BUILD_USED
RUN --mount=type=secret,id=BUILD_TOLD --mount=type=secret,id=MULTI \\
  cat /run/secrets/BUILD_TOLD && cat /run/secrets/MULTI && base64 -w0 /run/secrets/BUILD_TOLD && sleep 2
COPY server.js ./
USER nobody
CMD ["node", "server.js"]
`,
  'server.js': `const { RUNTIME, MULTI, POSTGRES_URL, SICK } = process.env;
const told = [RUNTIME, Buffer.from('x' + RUNTIME).toString('base64'), POSTGRES_URL, JSON.stringify(MULTI), MULTI].join('\\n');
console.log(told);
console.error('again: ' + told + '\\nthat was all');
require('node:http').createServer((request, response) => {
  if (request.url === '/own') return response.end(JSON.stringify(process.env));
  if (request.url === '/healthz' && SICK) response.statusCode = 503;
  response.end(RUNTIME + ' ' + told);
}).listen(process.env.PORT, '0.0.0.0');
`,
};

/** What may stand for a secret: itself, its lines, and as base64 wherever it begins. */
function formsOf(secret: string): string[] {
  const shifted = [0, 1, 2].map((before) => {
    const text = Buffer.from('x'.repeat(before) + secret).toString('base64');
    return text.slice(4, text.length - 5 - (text.length % 4));
  });
  return [...secret.split('\n'), ...shifted];
}

function assertNone(where: string, text: string, secrets: ReadonlyMap<string, string>): void {
  for (const [name, secret] of secrets) {
    for (const form of formsOf(secret)) {
      const at = text.indexOf(form);
      assert.equal(at, -1, `${name} is in ${where}: …${text.slice(Math.max(0, at - 200), at + 40)}`);
    }
  }
}

/** Looks at every process of the server, again and again, until it is told to end. Secrets come by standard input. */
const watchProgram = `my @secrets = map { chomp; $_ } <STDIN>; my %seen; my $turns = 0;
until (-e "/run/canary-watch-ends") {
  $turns++;
  for my $dir (glob "/proc/[0-9]*") {
    for my $what ("cmdline", "environ") {
      open my $f, "<", "$dir/$what" or next; local $/; my $text = <$f> // ""; close $f;
      next unless grep { index($text, $_) >= 0 } @secrets;
      open my $g, "<", "$dir/cgroup" or next; my $groups = <$g> // ""; close $g;
      my $inside = $groups =~ /docker|slipwaybuild|slipway[.]slice/ ? "container" : "host";
      open my $c, "<", "$dir/comm" or next; my $comm = <$c> // "?"; close $c; $comm =~ s{\\s}{}g;
      print "$what of $comm in $inside\\n" unless $seen{"$what $comm $inside"}++;
    }
  }
  select undef, undef, undef, 0.05;
}
unlink "/run/canary-watch-ends"; print "turns $turns\\n";`;

class ProcessWatch {
  readonly #server: TestServer;
  readonly #said: Promise<string>;
  #isEnded = false;

  constructor(t: TestContext, server: TestServer, secrets: ReadonlyMap<string, string>) {
    this.#server = server;
    const input = [...secrets.values()].flatMap((each) => each.split('\n')).join('\n');
    this.#said = server.ssh(`perl -e '${watchProgram}'`, input);
    // The server may be gone by then, and the watch with it.
    t.after(() => this.#isEnded || server.trySsh('touch /run/canary-watch-ends'));
  }

  /** Where a secret was seen; the environment of a user's own container is its place. */
  async end(): Promise<string[]> {
    await this.#server.ssh('touch /run/canary-watch-ends');
    const lines = (await this.#said).trim().split('\n');
    this.#isEnded = true;
    const turns = Number(/^turns (\d+)/.exec(lines.pop() ?? '')?.[1]);
    assert.ok(turns > 20, `${turns} turns`);
    assert.ok(
      lines.some((line) => /^environ of .* in container/.test(line)),
      'it sees what there is to see',
    );
    return lines.filter((line) => !/^environ of .* in container$/.test(line));
  }
}

/** Everything that the API tells of an environment and its deployments. */
async function told(
  scene: DeployScene,
  projectId: string,
  environmentId: string,
): Promise<Map<string, string>> {
  const { service } = scene.git;
  const all = new Map<string, string>();
  const get = async (path: string): Promise<Body> => {
    const answer = await service.call('GET', path, { token: scene.token });
    assert.equal(answer.status, 200, `${path} ${answer.text}`);
    all.set(path, answer.text);
    return answer.body;
  };
  const stream = async (path: string, isEnd: (event: string) => boolean) => {
    const reader = await openStream(`${service.url}/api/v1${path}`, { token: scene.token });
    assert.equal(reader.status, 200, path);
    const texts: string[] = [];
    for await (const { event, data } of reader.events()) {
      texts.push(JSON.stringify(data));
      if (isEnd(event)) break;
    }
    reader.close();
    all.set(`stream ${path}`, texts.join('\n'));
  };
  await get(`/projects/${projectId}`);
  const base = `/environments/${environmentId}`;
  for (const path of ['', '/variables', '/containers']) await get(`${base}${path}`);
  const { items } = await get(`${base}/deployments`);
  for (const { id, operationId } of Object(items)) {
    await get(`${base}/deployments/${id}`);
    await get(`${base}/deployments/${id}/logs?limit=1000`);
    await get(`/operations/${operationId}`);
    await stream(`${base}/deployments/${id}/status`, (event) => event === 'end');
    await stream(`/operations/${operationId}/events`, (event) => event === 'end');
  }
  await get('/operations');
  return all;
}

/** The app's own lines as they are shown, until the last of what it printed has come. */
async function liveLines(scene: DeployScene, environmentId: string): Promise<string> {
  const answer = await fetch(`${scene.git.service.url}/api/v1/environments/${environmentId}/logs?tail=100`, {
    headers: { authorization: `Bearer ${scene.token}` },
    signal: AbortSignal.timeout(hangMs),
  });
  assert.equal(answer.status, 200);
  let text = '';
  for await (const chunk of answer.body ?? []) {
    text += Buffer.from(chunk).toString('utf8');
    if (text.includes('that was all')) break;
  }
  return text;
}

test('secrets are where they belong, and nowhere else', async (t) => {
  const scene = await startDeployScene(t, lab);
  const { server } = scene;
  const secrets = new Map([
    ['RUNTIME', newCanary('runtime')],
    ['BUILD_USED', newCanary('build-used')],
    ['BUILD_TOLD', newCanary('build-told')],
    ['MULTI', `-----BEGIN KEY-----\n${newCanary('line-one')}\n${newCanary('line-two')}\n`.trim()],
  ]);
  const targets: Record<string, string> = { RUNTIME: 'runtime', MULTI: 'both' };
  const variables = [...secrets].map(([key, value]) => ({
    key,
    value,
    secret: true,
    target: targets[key] ?? 'build',
  }));
  secrets.set('MULTI', secrets.get('MULTI')?.split('\n').slice(1).join('\n') ?? '');
  const settings = {
    port: 8080,
    healthPath: '/healthz',
    drainSeconds: 1,
    stopSeconds: 1,
    releaseCommand: 'echo "release: $RUNTIME $MULTI"; env; sleep 1',
  };
  const watch = new ProcessWatch(t, server, secrets);
  const services = [{ kind: 'postgres' }];
  const made = await scene.deployed({ files, settings, variables, services });
  const { environmentId, projectId, deployment } = made;
  succeeded(deployment);
  const own = JSON.parse(await scene.page(environmentId, '/own'));
  assert.equal(own.RUNTIME, secrets.get('RUNTIME'), 'the app has it');
  assert.equal(own.BUILD_USED, undefined, 'and not what only the build may have');
  const password = new URL(own.POSTGRES_URL).password;
  assert.ok(password.length >= 16);
  secrets.set('the password of the database', decodeURIComponent(password));

  await t.test('a release that fails tells none of them in its evidence', async () => {
    const sick = { key: 'SICK', value: 'yes', secret: false, target: 'runtime' };
    await scene.call('POST', `/environments/${environmentId}/variables`, { variables: [sick] });
    await scene.call('PATCH', `/environments/${environmentId}`, {
      settings: { health: { startSeconds: 5 } },
    });
    const unhealthy = await scene.deploy(environmentId);
    assert.equal(unhealthy.status, 'failed');
    assert.match(JSON.stringify(Object(unhealthy.fault).evidence), /\[secret\]/);
    assert.match(JSON.stringify(unhealthy.probes), /\[secret\]/);
    const releaseCommand = 'echo "$RUNTIME"; echo "$MULTI" >&2; echo "$POSTGRES_URL"; exit 3';
    await scene.call('PATCH', `/environments/${environmentId}`, { settings: { releaseCommand } });
    const refused = await scene.deploy(environmentId);
    assert.deepEqual([refused.status, Object(refused.fault).code], ['failed', 'release_command_failed']);
    assert.match(JSON.stringify(Object(refused.fault).evidence), /\[secret\]/);
  });

  await t.test('the lists of processes had none but the environment of the containers', async () => {
    assert.deepEqual(await watch.end(), []);
  });

  await t.test('nothing that the API or its streams tell has one', async () => {
    const all = await told(scene, projectId, environmentId);
    for (const [path, text] of all) assertNone(path, text, secrets);
    const logs = all.get(`/environments/${environmentId}/deployments/${deployment.id}/logs?limit=1000`) ?? '';
    assert.match(logs, /\[secret\]/, 'they were printed');
    assert.match(logs, /release: \[secret\]/);
  });

  await t.test('the lines of the running app are shown without them', async () => {
    const lines = await liveLines(scene, environmentId);
    assert.match(lines, /"line":"again: \[secret\]"/);
    assertNone('the live lines', lines, secrets);
  });

  await t.test('the service keeps them sealed, and has none in its folder and its log', async () => {
    for (const [name, secret] of secrets)
      for (const line of secret.split('\n'))
        assert.deepEqual(await placesThatHold(scene.git.service, line), [], name);
  });

  await t.test('no image has one, in a layer or in its history', async () => {
    const images = `$(docker images --quiet --filter label=slipway.environment=${environmentId})`;
    const patterns = [...secrets.values()].flatMap(formsOf).join('\n');
    const said = await server.ssh(
      `cat >/dev/shm/patterns; chmod 600 /dev/shm/patterns
docker history --no-trunc ${images} | grep --fixed-strings --file /dev/shm/patterns
docker image inspect ${images} | grep --fixed-strings --file /dev/shm/patterns
docker save ${images} | tar --extract --to-stdout | grep --fixed-strings --text --file /dev/shm/patterns
docker save ${images} | wc --bytes; rm /dev/shm/patterns`,
      patterns,
    );
    assert.match(said, /^[0-9]{7,}\s*$/, said.slice(0, 500));
  });

  await t.test(
    'no file on the server has one that others than root can read, and none of ours has one',
    async () => {
      // What the build was told but did not tell is also in no record of BuildKit.
      const search = (patterns: string[], command: string) => server.ssh(command, patterns.join('\n'));
      const everyone = [...secrets.values()].flatMap(formsOf);
      const places = '/etc /var /run /tmp /home /opt /srv /root /usr/local /dev/shm';
      await server.ssh('useradd --create-home mallory');
      const read = await search(
        everyone,
        `setpriv --reuid=mallory --regid=mallory --clear-groups grep --recursive --files-with-matches --fixed-strings --text --no-messages --devices=skip --file - ${places}; true`,
      );
      assert.equal(read, '');
      const ours = await search(
        everyone,
        `grep --recursive --files-with-matches --fixed-strings --text --no-messages --devices=skip --file - /etc /var/lib/slipway /var/log /run/slipway /run/systemd /root /tmp /home; true`,
      );
      assert.equal(ours, '');
      const unsaid = formsOf(secrets.get('BUILD_USED') ?? '');
      const records = await search(
        unsaid,
        `grep --recursive --files-with-matches --fixed-strings --text --no-messages --devices=skip --file - /var/lib/docker /var/lib/containerd; true`,
      );
      assert.equal(records, '');
      const journal = await search(
        everyone,
        `cat >/dev/shm/patterns; journalctl --no-pager --quiet --output=export | grep --fixed-strings --text --file /dev/shm/patterns; rm /dev/shm/patterns; true`,
      );
      assert.equal(journal, '');
      assert.equal(await server.ssh('ls -A /var/lib/slipway/builds 2>/dev/null || true'), '');
    },
  );

  await t.test('nobody but root can ask the processes or Docker', async () => {
    const asked = await server.trySsh(
      `setpriv --reuid=mallory --regid=mallory --clear-groups sh -c 'cat /proc/*/environ 2>/dev/null | grep --count canary-; docker inspect $(docker ps -q) 2>/dev/null | grep --count canary-'`,
    );
    assert.equal(asked.stdout.trim().replaceAll('\n', ' '), '0 0');
  });
});
