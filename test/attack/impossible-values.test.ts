import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EnvironmentScene, startEnvironmentScene } from '../support/environments.ts';
import { analysed, newProject } from '../support/projects.ts';
import { committedDocument, isObject, type Json } from './surface.ts';

const long = 'a'.repeat(64);
const command = ['', ' \t', 'a\nb', 'a\0b'];
const healthPath = ['', 'healthz', '/a b', '/a#b', '/a\nb', 'http://example.com/', '/ä'];

/** By the end of a field's path: what nobody can mean. The longest end that fits counts. */
const nonsense: Readonly<Record<string, readonly string[]>> = {
  installCommand: command,
  buildCommand: command,
  startCommand: command,
  releaseCommand: command,
  '{}.command': command,
  '{}.schedule': [
    ...[
      '',
      '99 99 99 99 99',
      '60 * * * *',
      '* * * *',
      '* * * * * *',
      '0 0 31 2 *',
      '@never',
      'a b c d e',
      '*/0 * * * *',
    ],
  ],
  dockerfilePath: [
    '',
    '-v',
    '--tag=x',
    '/Dockerfile',
    '..',
    '../x',
    'a/../../x',
    'a\nb',
    'a\0b',
    'docker/',
    '.',
    'a\\b',
  ],
  dockerfileTarget: ['', '-v', 'a b', 'a\nb', '/x'],
  staticOutput: ['', '-v', '/etc', '..', 'a/../..', 'a\nb', 'a\\b'],
  rootDirectory: ['-v', '/etc', '..', 'a/../../b', 'a\nb', 'a\0b', 'a\\b'],
  healthPath,
  returnTo: ['', 'projects', '//evil.example', 'https://evil.example', '/\\evil.example', '/a b', '/a\nb'],
  'health.path': healthPath,
  'volumes[].path': [
    ...[
      '',
      '-v',
      'data',
      '../data',
      '/',
      '/a/../b',
      '/a/.',
      '/a//b',
      '/a/',
      '/a:b',
      '/a,b',
      '/a\nb',
      '/a\\b',
      '/app',
    ],
    ...[
      '/proc',
      '/proc/1',
      '/sys',
      '/sys/fs/cgroup',
      '/dev',
      '/dev/shm',
      '/run',
      '/var/run',
      '/var/run/docker.sock',
    ],
    ...['/etc', '/etc/hosts', '/usr', '/usr/bin', '/bin', '/lib'],
  ],
  'volumes[].name': ['', '-v', 'A', 'a b', '../x', '1a'],
  branch: [
    ...[
      '',
      '-v',
      'a..b',
      'a b',
      'a\nb',
      '/a',
      'a/',
      'a//b',
      '@',
      'a/.b',
      '.a',
      'a.',
      'a.lock',
      'a~1',
      'a^',
      'a:b',
    ],
    ...['a?b', 'a*b', 'a[b', 'a\\b', 'a@{1}'],
  ],
  'watchPaths[]': [
    '',
    '/a',
    '..',
    '../a',
    './a',
    'a/../b',
    'a//b',
    'a\nb',
    '!a',
    'a\\b',
    '{a,b}{c,d}{e,f}{g,h}{i,j}{k,l}{m,n}{o,p}{q,r}{s,t}',
    ' ',
  ],
  host: [
    ...[
      '',
      '-v',
      '-oProxyCommand=x',
      'a b',
      'a..b',
      '.a',
      'a-.example.com',
      'a_b',
      'a\nb',
      'http://a',
      '1.2.3.4/24',
    ],
    ...['1.2.3', '256.1.1.1', '999', '0x7f.1', '1.2.3.4.5', ':::', 'a:b', '1::2::3', `${long}.example.com`],
  ],
  network: ['10.0.0.5/16', '10.0.0.0/33', '10.0.0.0/0', '999.0.0.0/8', '10.0.0/8', '-v', '1.2.3.4'],
  hostname: ['', '-v', 'a b', 'a..b', '1.2.3.4', 'localhost', '::1', 'a\nb'],
  'config.to[]': ['nobody', 'a@b', 'a@example.com, b@example.com', 'a@example.com\nBcc: b@example.com'],
  cron: ['', '99 99 99 99 99', '* * * * *', '60 * * * *', '0 0 31 2 *', '@never00'],
  timezone: ['', '-v', 'Mars/Olympus', 'UTC+99', 'a\nb'],
  'variables[].key': ['', '-v', '1A', 'A-B', 'A=B', 'A\nB', 'PORT', 'SLIPWAY_X'],
  'variables[].value': ['a\0b'],
  'services[].name': ['', '-v', 'A', 'a_b', '1a'],
  'services[].version': ['', '-v', 'latest', '1;2'],
  'services[].storage': ['', '-v', '10', '0Gi', '-1Gi', 'ten'],
  commit: ['', 'main', '-v', 'g'.repeat(40)],
};

/** What is no path, mount, schedule, host or the like, or is asked of somebody before it is stored. */
const decided: Readonly<Record<string, string>> = {
  name: 'a name of one’s own choice',
  label: 'a name of one’s own choice',
  expiresAt: 'a time, by its format, and in the future',
  email: 'proven by a code',
  password: 'compared, or of any characters',
  code: 'compared',
  token: 'compared, or tried at the provider before it is stored',
  refreshToken: 'compared',
  challenge: 'compared',
  id: 'compared with the passkeys that are there, or its form is in the schema and it is read before it is stored',
  rawId: 'compared with `id`',
  clientDataJSON: 'read and held against what was asked for',
  authenticatorData: 'read, and its signature checked',
  signature: 'checked',
  userHandle: 'not looked at',
  attestationObject: 'read before it is stored',
  publicKey: 'not looked at: the one in the attestation counts',
  'transports[]': 'what the browser says; given back to it alone',
  invitation: 'compared',
  deviceName: 'a name of one’s own choice, of one line',
  deviceCode: 'compared',
  userCode: 'compared',
  'remove[]': 'compared with the services that are there',
  acceptHostKey: 'its form is in the schema',
  hostKeyFingerprint: 'its form is in the schema',
  planFingerprint: 'compared',
  username: 'its form is in the schema, and a login tries it',
  privateKey: 'read before it is stored',
  passphrase: 'used at once',
  certificate: 'read before it is stored',
  baseUrl: 'asked before it is stored',
  url: 'read as an address of its kind',
  webhookUrl: 'read as an address of its kind',
  apiUrl: 'read as an address of its kind',
  botToken: 'its form is checked by its kind',
  chatId: 'its form is checked by its kind',
  secret: 'of any characters',
  'config{}': 'held against the schema of its kind, whose fields are tried where it is created',
  'config{}[]': 'held against the schema of its kind, whose fields are tried where it is created',
  fullName: 'asked of the provider before it is stored',
  app: 'one of those that were found',
  appPath: 'one of those that were found',
  accessKeyId: 'tried before it is stored',
  secretAccessKey: 'tried before it is stored',
  bucket: 'tried before it is stored',
  endpoint: 'tried before it is stored',
  prefix: 'tried before it is stored',
  region: 'tried before it is stored',
};

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

/** `settings.volumes[].path` for example; `{}` stands for a name of the caller's choice. */
function textFields(schema: Schema, schemas: Readonly<Record<string, Schema>>, at = ''): string[] {
  const inner = (each: Schema, path: string) => textFields(each, schemas, path);
  if (schema.$ref !== undefined) return inner(schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, at);
  const named = Object.entries(schema.properties ?? {}).flatMap(([key, each]) =>
    inner(each, at ? `${at}.${key}` : key),
  );
  const { additionalProperties: more } = schema;
  const free = [
    ...Object.values(schema.patternProperties ?? {}),
    ...(typeof more === 'object' ? [more] : []),
  ];
  const isText =
    [schema.type].flat().includes('string') && schema.enum === undefined && schema.const === undefined;
  const isFree = schema.format !== 'uuid' && schema.format !== 'binary';
  return [
    ...(isText && isFree ? [at] : []),
    ...named,
    ...free.flatMap((each) => inner(each, `${at}{}`)),
    ...(schema.items ? inner(schema.items, `${at}[]`) : []),
    ...(schema.anyOf ?? []).flatMap((each) => inner(each, at)),
  ];
}

interface Field {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly at: string;
}

function fieldsOf(): Field[] {
  const document = committedDocument();
  const { schemas } = Object(document.components);
  return Object.entries<Record<string, Record<string, unknown>>>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId, requestBody }]) => {
      const schema: Schema = Object(Object(Object(requestBody).content)['application/json']).schema ?? {};
      const operation = String(operationId);
      return [...new Set(textFields(schema, schemas))].map((at) => ({
        operation,
        method: method.toUpperCase(),
        path,
        at,
      }));
    }),
  );
}

function nonsenseFor(at: string): readonly string[] | undefined {
  const ends = Object.keys(nonsense).filter(
    (end) => at === end || at.endsWith(`.${end}`) || (end.startsWith('{') && at.endsWith(end)),
  );
  const [longest] = ends.sort((one, other) => other.length - one.length);
  return longest === undefined ? undefined : nonsense[longest];
}

/** What an operation takes without the field in question. */
function bodiesOf({ projectId }: EnvironmentScene, serverId: string): Readonly<Record<string, Json>> {
  const server = { name: 'web', host: 'web.invalid', auth: { type: 'generated' } };
  return {
    registerServer: server,
    testConnection: server,
    createCluster: { name: 'shop', serverIds: [serverId] },
    createProject: { name: 'new', repository: { url: 'https://git.invalid/x.git' } },
    finalizeProject: { environment: { name: 'production' } },
    createEnvironment: { projectId, name: 'staging' },
    setAutoDeploy: { enabled: true },
    createNotificationConnector: { type: 'email', name: 'M', config: {} },
  };
}

/** What an element needs beside the field in question. */
const elements: Readonly<Record<string, Json>> = {
  volumes: { name: 'data', path: '/data' },
  processes: { command: 'node worker.js' },
  variables: { key: 'KEY', value: 'v' },
  services: { kind: 'postgres' },
};

function put(body: Json, at: readonly string[], value: string): { body: Json; path: string } {
  const [name = '', ...rest] = at;
  const given = isObject(body) ? body : {};
  const key = name.replace(/(\[\]|\{\})$/, '');
  const below = rest.length === 0 ? { body: value, path: '' } : undefined;
  if (name.endsWith('[]')) {
    const { body: inner, path } = below ?? put(elements[key] ?? {}, rest, value);
    return { body: { ...given, [key]: [inner] }, path: `${key}[0]${path && `.${path}`}` };
  }
  if (name.endsWith('{}')) {
    const { body: inner, path } = below ?? put(elements[key] ?? {}, rest, value);
    return { body: { ...given, [key]: { worker: inner } }, path: `${key}.worker.${path}` };
  }
  const { body: inner, path } = below ?? put(given[key] ?? {}, rest, value);
  return { body: { ...given, [key]: inner }, path: `${key}${path && `.${path}`}` };
}

test('what could never work is refused where it comes in, by its field, in whatever request it comes', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { service, person, environmentId, ask } = scene;
  const repository = { providerId: scene.providerId, fullName: 'ada/shop' };
  const draft = await newProject(service, person.token, { name: 'Draft', repository });
  await analysed(service, person.token, String(draft.id));
  const serverId = await scene.server('web-9');
  const ids: Record<string, string> = {
    servers: serverId,
    projects: String(draft.id),
    environments: environmentId,
  };
  const bodies = bodiesOf(scene, serverId);
  const settingsBefore = (await ask('GET', `/environments/${environmentId}`)).body.settings;
  const undecided = new Set<string>();
  let refused = 0;
  for (const { operation, method, path, at } of fieldsOf()) {
    const values = nonsenseFor(at);
    const last = at.split('.').at(-1) ?? '';
    if (!values && decided[last] === undefined) undecided.add(`${operation} ${at}`);
    const [, family = ''] = /^\/api\/v1\/([\w-]+)/.exec(path) ?? [];
    const target = path.replace('/api/v1', '').replace(/\{id\}/, ids[family] ?? '');
    for (const value of values ?? []) {
      const { body, path: expected } = put(bodies[operation] ?? {}, at.split('.'), value);
      const answer = await ask(method, target, body);
      const shown = `${operation} ${expected} ${JSON.stringify(value)}: ${answer.status} ${answer.text.slice(0, 600)}`;
      assert.deepEqual([answer.status, answer.body.code], [400, 'invalid_input'], shown);
      const errors: { path: string; message: string }[] = Object(answer.body.errors);
      const named = errors.find((each) => each.path === expected);
      assert.ok(named && named.message !== '', shown);
      refused += 1;
    }
  }
  assert.deepEqual(
    [...undecided],
    [],
    'each of these needs nonsense above, or a reason why it is decided elsewhere',
  );
  t.diagnostic(`${refused} values were refused`);
  assert.ok(refused > 400, `${refused} values`);
  assert.deepEqual((await ask('GET', `/environments/${environmentId}`)).body.settings, settingsBefore);
  for (const name of ['rootDirectory', 'branch'])
    for (const value of nonsense[name] ?? []) {
      const query = new URLSearchParams({ url: 'https://git.invalid/x.git', [name]: value });
      const answer = await ask('GET', `/projects/analyze-repo?${query}`);
      assert.equal(answer.status, 400, `${name} ${JSON.stringify(value)}: ${answer.text}`);
    }
});

test('what works is not refused with it', async (t) => {
  const { ask, environmentId } = await startEnvironmentScene(t);
  const settings = {
    buildCommand: null,
    startCommand: 'node server.js',
    dockerfilePath: 'docker/web.Dockerfile',
    staticOutput: '.',
    healthPath: '/healthz?deep=1',
    volumes: [
      { name: 'uploads', path: '/app/uploads' },
      { name: 'socket', path: '/run/mysqld' },
      { name: 'pages', path: '/usr/share/nginx/html' },
      { name: 'caddy', path: '/etc/caddy' },
      { name: 'all', path: '/app' },
    ],
    processes: {
      nightly: { command: 'node nightly.js', schedule: '@daily' },
      often: { command: 'node often.js', schedule: '*/5 8-18 * * mon-fri' },
    },
  };
  const set = await ask('PATCH', `/environments/${environmentId}`, { settings });
  assert.equal(set.status, 200, set.text);
  const watched = await ask('PATCH', `/environments/${environmentId}`, {
    watchPaths: ['apps/web/', 'packages/*/src', '**/*.sql'],
  });
  assert.equal(watched.status, 200, watched.text);
});
