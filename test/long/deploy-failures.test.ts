import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { type Body, type DeployScene, sample, startDeployScene, succeeded } from '../support/deployments.ts';
import { openLab } from '../support/lab.ts';

const lab = await openLab();
const canary = '/tmp/slipway-canary-of-a-deployment';

const settings = {
  port: 3000,
  healthPath: '/healthz',
  health: { startSeconds: 5, timeoutSeconds: 2 },
  drainSeconds: 1,
  stopSeconds: 1,
};

/** Answers with 200 everywhere unless `on` says otherwise; `listen` is where. */
function server(on = '', listen = "process.env.PORT, '0.0.0.0'"): string {
  return `const server = require('node:http').createServer((req, res) => {
  ${on}
  res.end('good one');
});
server.listen(${listen}, () => console.log('up'));
process.on('SIGTERM', () => process.exit(0));
`;
}

const good = {
  'package.json': JSON.stringify({
    name: 'good',
    scripts: { start: 'node server.js', build: 'node build.js' },
  }),
  'build.js': '',
  'migrate.js': "console.error('migration 12 has failed: no such column');\nprocess.exit(3);\n",
  'server.js': server(),
};

interface Case {
  readonly what: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly settings?: Body;
  readonly code: RegExp;
  readonly step: string;
  /** In the sentence, the hint and the evidence together. */
  readonly says: readonly RegExp[];
}

const eat = 'const all = []; setInterval(() => all.push(Buffer.alloc(16 << 20, 1)), 20);\n';

const cases: readonly Case[] = [
  {
    what: 'one that never becomes healthy',
    files: { 'server.js': sample('never-healthy')['server.js'] ?? '', 'package.json': withModules(good) },
    code: /^app_unhealthy$/,
    step: 'health',
    says: [/503/, /GET \/healthz on port 3000/, /unhealthy/, /Listening on port 3000/],
  },
  {
    what: 'one that listens on localhost only',
    files: { 'server.js': server('', "process.env.PORT, '127.0.0.1'") },
    code: /^app_bound_to_localhost$/,
    step: 'health',
    says: [/127\.0\.0\.1:3000/, /0\.0\.0\.0/],
  },
  {
    what: 'one that listens on another port',
    files: { 'server.js': server('', '9999') },
    code: /^app_wrong_port$/,
    step: 'health',
    says: [/port 9999/, /port 3000/, /settings\.port/],
  },
  {
    what: 'one that redirects its health check',
    files: { 'server.js': server("if (req.url === '/healthz') res.writeHead(302, { location: '/login' });") },
    code: /^app_redirects$/,
    step: 'health',
    says: [/302/, /\/login/, /needs no login/],
  },
  {
    what: 'one that ends at once',
    files: { 'server.js': "throw new Error('the configuration is missing');\n" },
    code: /^app_crash(ed|_loop)$/,
    step: 'health',
    // It may be running for a moment when it is looked at: then the code of its last end is not known.
    says: [/exit code 1|started again \d+ times/, /the configuration is missing/],
  },
  {
    what: 'one that needs more memory than it may have',
    files: { 'server.js': `${eat}${server("if (req.url === '/healthz') return;")}` },
    settings: { memoryMb: 96 },
    code: /^app_out_of_memory$/,
    step: 'health',
    says: [/96 MB/, /settings\.memoryMb/],
  },
  {
    what: 'one that cannot be built',
    files: { 'build.js': "console.error('src/cart.ts:7: no such price');\nprocess.exit(2);\n" },
    code: /^build_failed$/,
    step: 'build',
    says: [/src\/cart\.ts:7: no such price/, /exit code: 2/],
  },
  {
    what: 'one whose release command fails',
    settings: { releaseCommand: 'node migrate.js' },
    code: /^release_command_failed$/,
    step: 'release',
    says: [/migration 12 has failed/],
  },
  {
    what: 'a start command full of canaries',
    settings: {
      startCommand: `node -e 'throw 7' "$(touch ${canary})"; touch ${canary}; \`touch ${canary}\` && exit 7 # ' " $\{IFS} %`,
    },
    code: /^app_crash(ed|_loop)$/,
    step: 'health',
    says: [/7/],
  },
  {
    what: 'a health path full of canaries',
    files: { 'server.js': server("if (req.url !== '/healthz') res.statusCode = 404;") },
    settings: { healthPath: `/';$(touch$\{IFS}${canary})\`touch$\{IFS}${canary}\`|touch$\{IFS}${canary}&` },
    code: /^app_unhealthy$/,
    step: 'health',
    says: [/404/],
  },
];

function withModules(files: Readonly<Record<string, string>>): string {
  return JSON.stringify({ ...JSON.parse(files['package.json'] ?? '{}'), type: 'module' });
}

async function push(scene: DeployScene, repository: string, files: Readonly<Record<string, string>>) {
  const [owner = '', name = ''] = repository.split('/');
  const message = 'Change it';
  return scene.git.host.commit(owner, name, { branch: 'main', message, files });
}

/** What a failed deployment must not leave behind, wherever its id would be. */
async function assertNothingLeft({ server }: DeployScene, id: unknown): Promise<void> {
  const [underlined] = [String(id).replaceAll('-', '_')];
  const found = await server.ssh(`
    docker ps -a --filter label=slipway.deployment=${id} --format '{{.Names}}'
    docker ps -a --format '{{.Names}}' | grep ${id} || true
    ls -A /var/lib/slipway/builds /var/lib/slipway/units 2>/dev/null | grep ${id} || true
    systemctl list-units --all --plain --no-legend 'slipway-${id}*'
    grep -rlE '${id}|${underlined}' /var/lib/slipway/proxy 2>/dev/null || true
    ls ${canary} 2>/dev/null || true`);
  assert.equal(found.trim(), '');
  assert.equal(existsSync(canary), false);
}

async function assertFailedWell(
  scene: DeployScene,
  { environmentId, current }: { readonly environmentId: string; readonly current: unknown },
  deployment: Body,
  { code, step, says }: Pick<Case, 'code' | 'step' | 'says'>,
): Promise<void> {
  assert.equal(deployment.status, 'failed');
  const fault: Body = Object(deployment.fault);
  const shown = JSON.stringify(fault, null, 1);
  assert.match(String(fault.code), code, shown);
  assert.equal(fault.step, step, shown);
  const text = [fault.message, fault.hint, fault.evidence].join('\n');
  for (const each of says) assert.match(text, each, shown);
  assert.ok(fault.hint, shown);
  assert.ok(fault.evidence, shown);
  if (step === 'health') assert.ok(Array.from(Object(deployment.probes)).length > 0, 'no probe was kept');
  assert.equal(await scene.page(environmentId), 'good one');
  const environment = await scene.call('GET', `/environments/${environmentId}`);
  assert.deepEqual([environment.status, environment.currentDeploymentId], ['running', current]);
  await assertNothingLeft(scene, deployment.id);
}

test('what fails says why, leaves nothing, and the release before goes on serving', async (t: TestContext) => {
  const scene = await startDeployScene(t, lab);
  const made = await scene.deployed({ files: good, settings });
  const { environmentId, repository } = made;
  succeeded(made.deployment);
  const at = { environmentId, current: made.deployment.id };
  assert.equal(await scene.page(environmentId), 'good one');

  for (const each of cases) {
    await t.test(each.what, async () => {
      await push(scene, repository, { ...good, ...each.files });
      if (each.settings)
        await scene.call('PATCH', `/environments/${environmentId}`, { settings: each.settings });
      try {
        await assertFailedWell(scene, at, await scene.deploy(environmentId), each);
      } finally {
        const added = Object.keys(each.settings ?? {});
        const resetSettings = added.filter((key) => !(key in settings));
        await scene.call('PATCH', `/environments/${environmentId}`, { settings, resetSettings });
      }
    });
  }

  await t.test('a commit that is not there', async () => {
    const deployment = await scene.deploy(environmentId, { commit: 'f'.repeat(40) });
    const wanted = { code: /^commit_not_found$/, step: 'fetch', says: [/ffff/] };
    await assertFailedWell(scene, at, deployment, wanted);
  });

  const nameless = `docker images --filter dangling=true --filter label=slipway.environment=${environmentId} -q`;
  /** As of a build that was cut off before its image had a name. */
  const leaveNameless = () =>
    scene.server.ssh(
      `id=$(docker images -q --filter label=slipway.environment=${environmentId} | head -n 1)
      printf 'FROM %s\\nLABEL cut=off\\n' "$(docker inspect -f '{{index .RepoTags 0}}' "$id")" | docker build -q - > /dev/null
      ${nameless} | grep -q .`,
    );

  await t.test('what a build left without a name goes also where the next one fails', async () => {
    await leaveNameless();
    await push(scene, repository, { ...good, 'build.js': "throw new Error('never built');\n" });
    const { status, fault } = await scene.deploy(environmentId);
    assert.deepEqual([status, Object(fault).step], ['failed', 'build']);
    assert.equal(await scene.server.ssh(nameless), '');
  });

  await t.test(
    'after all that, a good commit is deployed, and the images of the failed ones go',
    async () => {
      await leaveNameless();
      await push(scene, repository, { ...good, 'server.js': server().replace('good one', 'good two') });
      succeeded(await scene.deploy(environmentId));
      assert.equal(await scene.page(environmentId), 'good two');
      const images = await scene.server.ssh(
        `docker images -q --filter label=slipway.environment=${environmentId}`,
      );
      // Those two that were live, and none that never was.
      assert.equal(images.trim().split('\n').length, 2, images);
      assert.equal(await scene.server.ssh('docker ps -q --filter label=slipway=app | wc -l'), '1\n');
    },
  );

  await t.test(
    'a first deployment that fails leaves an idle environment and no place at the proxy',
    async () => {
      const files = { ...good, 'server.js': "throw new Error('never');\n" };
      const { environmentId: other, deployment } = await scene.deployed({ files, settings });
      assert.equal(deployment.status, 'failed');
      const environment = await scene.call('GET', `/environments/${other}`);
      assert.deepEqual([environment.status, environment.currentDeploymentId], ['idle', null]);
      await assertNothingLeft(scene, deployment.id);
      const sites = await scene.server.ssh('ls /var/lib/slipway/proxy/config');
      assert.doesNotMatch(sites, new RegExp(other));
    },
  );
});
