import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnalysisResult, App, Variable } from '../../analysis/result.ts';
import { Fault } from '../../fault.ts';
import {
  type BuildKeyParts,
  buildKeyOf,
  buildSourceOf,
  chooseApp,
  plannedRunOf,
  requirePossible,
  runPlanOf,
} from './plan.ts';

const app: App = {
  path: '.',
  name: 'shop',
  language: 'javascript',
  framework: null,
  packageManager: null,
  versions: {},
  installCommand: 'npm ci',
  buildCommand: null,
  startCommand: 'node server.js',
  releaseCommand: null,
  staticOutput: null,
  port: null,
  healthPath: null,
  processes: [],
  dockerfile: null,
  volumes: [],
  confidence: 1,
};
const image = { exposedPorts: [], user: 'node' };
const found = (...apps: App[]): AnalysisResult => ({
  apps,
  services: [],
  variables: [],
  composeFile: null,
  monorepo: null,
  languages: [],
  warnings: [],
  evidence: [],
});
const codeOf = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    if (error instanceof Fault) return error.code;
  }
  return 'nothing';
};

test('the app is the one that was chosen, or the only one, or what the settings make of it', () => {
  const api = { ...app, path: 'apps/api' };
  assert.equal(chooseApp(found(app, api), { appPath: 'apps/api' }), api);
  assert.equal(chooseApp(found(api), {}), api);
  assert.equal(
    codeOf(() => chooseApp(found(api), { appPath: 'apps/web' })),
    'app_not_found',
  );
  assert.equal(
    codeOf(() => chooseApp(found(app, api), {})),
    'app_not_found',
  );
  assert.equal(
    codeOf(() => chooseApp(found(), {})),
    'app_not_found',
  );
  for (const settings of [{ startCommand: 'node x.js' }, { dockerfilePath: 'D' }, { staticOutput: 'out' }])
    assert.equal(chooseApp(found(), settings).language, 'unknown');
});

test('its own Dockerfile counts unless the settings name another, or none', () => {
  const own = { ...app, dockerfile: { path: 'Dockerfile' } };
  assert.deepEqual(buildSourceOf(own, {}), { kind: 'dockerfile', path: 'Dockerfile', target: null });
  assert.deepEqual(buildSourceOf(own, { dockerfilePath: null }), { kind: 'generated' });
  const other = { dockerfilePath: 'docker/web', dockerfileTarget: 'prod' };
  assert.deepEqual(buildSourceOf(app, other), { kind: 'dockerfile', path: 'docker/web', target: 'prod' });
  assert.deepEqual(buildSourceOf(app, {}), { kind: 'generated' });
});

test('what a repository’s files ask for, and could never work, ends the plan with the field it would be set by', () => {
  const cron = (schedule: string) => ({
    name: 'nightly',
    kind: 'cron' as const,
    command: 'node x.js',
    schedule,
  });
  const asked: [field: string, wish: Partial<App>][] = [
    ['settings.volumes[0].path', { volumes: ['/proc'] }],
    ['settings.volumes[0].path', { volumes: ['/'] }],
    ['settings.volumes[1].path', { volumes: ['data', '../../../dev/shm'] }],
    ['settings.volumes[0].path', { volumes: ['/data:/etc'] }],
    ['settings.processes.nightly.schedule', { processes: [cron('99 99 99 99 99')] }],
    ['settings.processes.nightly.command', { processes: [{ ...cron('@daily'), command: ' ' }] }],
    ['settings.dockerfilePath', { dockerfile: { path: '-v' } }],
    ['settings.dockerfilePath', { dockerfile: { path: '../Dockerfile' } }],
    ['settings.healthPath', { healthPath: 'healthz' }],
    ['settings.port', { port: 70_000 }],
  ];
  for (const [field, wish] of asked) {
    const known = { ...app, ...wish };
    const check = () => requirePossible(buildSourceOf(known, {}), plannedRunOf(known, {}, []));
    assert.throws(
      check,
      (error) => error instanceof Fault && error.errors?.length === 1 && error.errors[0]?.path === field,
      `${field} ${JSON.stringify(wish)}`,
    );
  }
  const fine = {
    ...app,
    volumes: ['data/', '/var/lib/x/', './files'],
    processes: [cron('@daily')],
    port: 8080,
  };
  const run = plannedRunOf(fine, {}, []);
  requirePossible(buildSourceOf(fine, {}), run);
  assert.deepEqual(
    run.volumes.map(({ path }) => path),
    ['/app/data', '/var/lib/x', '/app/files'],
  );
});

test('a port is the user’s, the analysis’, the image’s, or the usual one, in this order', () => {
  const exposed = { exposedPorts: [9000, 9001], user: '' };
  const portOf = (settings: { port?: number }, known: number | null, seen = exposed) =>
    runPlanOf(plannedRunOf({ ...app, port: known }, settings, []), seen).port;
  assert.deepEqual(
    [portOf({ port: 1 }, 2), portOf({}, 2), portOf({}, null), portOf({}, null, { ...image })],
    [1, 2, 9000, 8080],
  );
});

test('what is absent is as found, null is none, and health goes before the older setting', () => {
  const known = { ...app, healthPath: '/found', releaseCommand: 'migrate' };
  const plan = (settings: Parameters<typeof plannedRunOf>[1]) =>
    runPlanOf(plannedRunOf(known, settings, []), image);
  assert.deepEqual([plan({}).health.path, plan({}).releaseCommand], ['/found', 'migrate']);
  assert.deepEqual(
    [plan({ healthPath: null }).health.path, plan({ releaseCommand: null }).releaseCommand],
    [null, null],
  );
  assert.equal(plan({ healthPath: '/a', health: { path: '/b' } }).health.path, '/b');
  assert.equal(plan({ healthPath: '/a', health: { path: null } }).health.path, null);
  assert.equal(plan({ healthPath: '/a', health: { startSeconds: 9 } }).health.path, '/a');
  const { health, replicas, memoryMb, drainSeconds, stopSeconds, holdSeconds } = plan({});
  assert.deepEqual(health, { path: '/found', port: null, timeoutSeconds: 5, startSeconds: 60 });
  assert.deepEqual([replicas, memoryMb, drainSeconds, stopSeconds, holdSeconds], [1, null, 30, 10, 30]);
});

test('a start command is for the user’s own image; a generated one has it inside', () => {
  const settings = { startCommand: 'node other.js' };
  assert.equal(runPlanOf(plannedRunOf(app, settings, []), image).startCommand, null);
  assert.equal(
    runPlanOf(plannedRunOf(app, { ...settings, dockerfilePath: 'Dockerfile' }, []), image).startCommand,
    'node other.js',
  );
});

test('who begins as root is known by the user of the image', () => {
  const isRoot = (user: string) => runPlanOf(plannedRunOf(app, {}, []), { ...image, user }).isRoot;
  for (const user of ['', '0', 'root', '0:0', 'root:app', ':0']) assert.equal(isRoot(user), true, user);
  for (const user of ['1000', 'node', '1000:0', 'rooted', '00x']) assert.equal(isRoot(user), false, user);
});

test('processes are those found, changed, and further ones; none of them twice', () => {
  const known: App = {
    ...app,
    processes: [
      { name: 'worker', kind: 'worker', command: 'work', schedule: null },
      { name: 'clean', kind: 'cron', command: 'clean', schedule: '0 3 * * *' },
    ],
  };
  const plan = (processes: NonNullable<Parameters<typeof plannedRunOf>[1]['processes']>) =>
    runPlanOf(plannedRunOf(known, { processes }, []), image).processes;
  assert.deepEqual(
    plan({}).map(({ name, kind, replicas }) => [name, kind, replicas]),
    [
      ['clean', 'cron', 1],
      ['worker', 'worker', 1],
    ],
  );
  assert.deepEqual(
    plan({ worker: { replicas: 3 }, clean: { replicas: 0 }, extra: { command: 'x' } }).map(
      ({ name, command, replicas }) => [name, command, replicas],
    ),
    [
      ['extra', 'x', 1],
      ['worker', 'work', 3],
    ],
  );
  const [scheduled] = plan({ worker: { schedule: '* * * * *' }, clean: { replicas: 0 } });
  assert.deepEqual([scheduled?.kind, scheduled?.schedule], ['cron', '* * * * *']);
  assert.equal(
    codeOf(() => plan({ nobody: { replicas: 1 } })),
    'invalid_input',
  );
});

test('a folder keeps its volume from release to release, and two folders never share one', () => {
  const plan = (path: string, volumes: readonly string[]) =>
    runPlanOf(plannedRunOf({ ...app, path, volumes }, {}, []), image).volumes;
  const [uploads, data, absolute] = plan('.', ['./uploads', 'data', '/srv/files']);
  assert.deepEqual([uploads?.path, data?.path, absolute?.path], ['/app/uploads', '/app/data', '/srv/files']);
  assert.equal(new Set([uploads?.name, data?.name, absolute?.name]).size, 3);
  assert.match(uploads?.name ?? '', /^[0-9a-f]{12}$/);
  assert.deepEqual(plan('.', ['uploads']), [uploads], 'however it was written');
  assert.equal(plan('apps/web', ['uploads'])[0]?.path, '/app/apps/web/uploads');
  const set = [{ name: 'mine', path: '/mine' }];
  assert.deepEqual(
    runPlanOf(plannedRunOf({ ...app, volumes: ['x'] }, { volumes: set }, []), image).volumes,
    set,
  );
});

test('what an app asks of services is its own, not that of its neighbour', () => {
  const variable = (key: string, apps: string[], given: Variable['given']): Variable => ({
    key,
    apps,
    given,
    required: true,
    secret: true,
    build: false,
    default: null,
    reason: '',
  });
  const variables = [
    variable('DB_HOST', ['.'], 'service'),
    variable('OTHER_HOST', ['apps/x'], 'service'),
    variable('API_KEY', ['.'], null),
  ];
  const { askedOfServices, requiredKeys } = runPlanOf(plannedRunOf(app, {}, variables), image);
  assert.deepEqual(askedOfServices, ['DB_HOST']);
  assert.deepEqual(requiredKeys, ['DB_HOST', 'API_KEY']);
});

test('the key of a build is the same for the same inputs, and another for any other', () => {
  const inputs: BuildKeyParts = {
    tree: 'a',
    source: { kind: 'generated' },
    dockerfile: 'FROM x',
    dockerignore: '',
    buildArgs: { A: '1', B: '2' },
    secretsVersion: '',
  };
  const key = buildKeyOf(inputs);
  assert.match(key, /^[0-9a-f]{32}$/);
  assert.equal(buildKeyOf({ ...inputs, buildArgs: { B: '2', A: '1' } }), key, 'in any order');
  const others: BuildKeyParts[] = [
    { ...inputs, tree: 'b' },
    { ...inputs, source: { kind: 'dockerfile', path: 'Dockerfile', target: null } },
    { ...inputs, source: { kind: 'dockerfile', path: 'Dockerfile', target: 'prod' } },
    { ...inputs, source: { kind: 'dockerfile', path: 'Other', target: null } },
    { ...inputs, dockerfile: 'FROM y' },
    { ...inputs, dockerignore: 'x' },
    { ...inputs, dockerfile: '', dockerignore: 'FROM x' },
    { ...inputs, buildArgs: { A: '1' } },
    { ...inputs, buildArgs: { A: '2', B: '1' } },
    { ...inputs, buildArgs: { A: '1', B: '2', C: '' } },
    { ...inputs, secretsVersion: 'v' },
  ];
  assert.equal(new Set([key, ...others.map(buildKeyOf)]).size, others.length + 1);
});
