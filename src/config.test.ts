import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { faultOf } from '../test/support/faults.ts';
import { readConfig, settings } from './config.ts';

const key = Buffer.alloc(32, 1).toString('base64');
const olderKey = Buffer.alloc(32, 2).toString('base64');

async function sentenceOf(env: Record<string, string>): Promise<string> {
  const fault = await faultOf(() => readConfig(env));
  assert.equal(fault.code, 'wrong_setting');
  return fault.message;
}

test('without settings everything has its documented default', () => {
  assert.deepEqual(readConfig({}), {
    host: '127.0.0.1',
    port: 4400,
    publicUrl: undefined,
    dataDir: resolve('./data'),
    databaseUrl: undefined,
    masterKeys: undefined,
    smtpUrl: undefined,
    mailFrom: 'Slipway <slipway@localhost>',
    docs: true,
    registration: 'open',
    trustedProxies: [],
    corsOrigins: [],
    monitorListen: { at: 'main' },
    monitorToken: undefined,
    logLevel: 'info',
    acmeDirectory: 'https://acme-v02.api.letsencrypt.org/directory',
    acmeCaFile: undefined,
    limitRequests: 300,
    limitSignIn: 10,
    limitSearch: 60,
    limitTriggers: 30,
    limitStreams: 50,
    limitStreamsTotal: 5_000,
    limitTests: 10,
    pollSeconds: 300,
    mirrorMegabytes: 2048,
    mirrorsMegabytes: 20480,
    keepFreeMegabytes: 1024,
    allowPrivateEgress: false,
    serverNetworks: undefined,
    dnsServers: [],
    caFile: undefined,
    eventDays: 14,
    operationDays: 90,
    auditDays: 365,
    keepDeployments: 200,
    operationsPerWorkspace: 8,
    operationsPerServer: 2,
    backupDir: undefined,
    importMegabytes: 10_240,
    importDataMegabytes: 40_960,
    uploadDir: undefined,
    uploadMegabytes: 512,
    uploadUnpackedMegabytes: 2_048,
    uploadFiles: 50_000,
    uploadsMegabytes: 10_240,
    backupKeepReplacedDays: 7,
    oidc: undefined,
  });
});

test('an empty setting counts as absent', () => {
  const empty = Object.fromEntries(Object.values(settings).map(({ env }) => [env, '']));
  assert.deepEqual(readConfig(empty), readConfig({}));
});

test('a value that is right is taken, in the form the code wants it', () => {
  const config = readConfig({
    SLIPWAY_HOST: ' 0.0.0.0 ',
    SLIPWAY_PORT: '0',
    SLIPWAY_PUBLIC_URL: 'https://Deploy.Example.com/',
    SLIPWAY_DATA_DIR: 'here/below',
    SLIPWAY_MAIL_FROM: 'Ops <ops@example.com>',
    SLIPWAY_REGISTRATION: 'closed',
    SLIPWAY_TRUSTED_PROXIES: '10.0.0.0/8, ::1,192.0.2.7',
    SLIPWAY_CORS_ORIGINS: 'https://a.example, http://localhost:3000',
    SLIPWAY_MONITOR_LISTEN: '[::1]:9090',
    SLIPWAY_LOG_LEVEL: 'silent',
    SLIPWAY_LIMIT_REQUESTS: '1000000',
    SLIPWAY_LIMIT_SIGN_IN: '1',
    SLIPWAY_POLL_SECONDS: '0',
    SLIPWAY_ALLOW_PRIVATE_EGRESS: 'on',
    SLIPWAY_SERVER_NETWORKS: '203.0.113.10, private ,fd00:1::/64',
    SLIPWAY_DNS_SERVERS: '192.0.2.53, [2001:db8::53]:5353,192.0.2.54:54',
    SLIPWAY_CA_FILE: 'package.json',
    SLIPWAY_ACME_DIRECTORY: 'https://Authority.example/dir',
    SLIPWAY_ACME_CA_FILE: 'package.json',
  });
  assert.equal(config.host, '0.0.0.0');
  assert.equal(config.port, 0);
  assert.equal(config.publicUrl, 'https://deploy.example.com');
  assert.equal(config.dataDir, resolve('here/below'));
  assert.equal(config.mailFrom, 'Ops <ops@example.com>');
  assert.equal(config.registration, 'closed');
  assert.deepEqual(config.trustedProxies, ['10.0.0.0/8', '::1', '192.0.2.7']);
  assert.deepEqual(config.corsOrigins, ['https://a.example', 'http://localhost:3000']);
  assert.deepEqual(config.monitorListen, { at: 'address', host: '::1', port: 9090 });
  assert.equal(config.logLevel, 'silent');
  assert.equal(config.limitRequests, 1_000_000);
  assert.equal(config.limitSignIn, 1);
  assert.equal(config.pollSeconds, 0);
  assert.equal(config.allowPrivateEgress, true);
  const networks = ['203.0.113.10', 'fd00:1::/64'];
  assert.deepEqual(config.serverNetworks, { allowPrivate: true, networks });
  const none = readConfig({ SLIPWAY_SERVER_NETWORKS: 'none' });
  assert.deepEqual(none.serverNetworks, { allowPrivate: false, networks: [] });
  assert.deepEqual(config.dnsServers, ['192.0.2.53', '[2001:db8::53]:5353', '192.0.2.54:54']);
  assert.equal(config.caFile, resolve('package.json'));
  assert.equal(config.acmeDirectory, 'https://authority.example/dir');
  assert.equal(config.acmeCaFile, resolve('package.json'));
});

test('secrets are kept whole, and out of sight', () => {
  const config = readConfig({
    SLIPWAY_DATABASE_URL: 'postgresql://slipway:hunter2@db.example/slipway',
    SLIPWAY_SMTP_URL: 'smtps://ops:hunter3@mail.example:465',
    SLIPWAY_MASTER_KEY: `${key}, ${olderKey}`,
  });
  assert.equal(config.databaseUrl?.reveal(), 'postgresql://slipway:hunter2@db.example/slipway');
  assert.equal(config.smtpUrl?.reveal(), 'smtps://ops:hunter3@mail.example:465');
  const keys = config.masterKeys?.map((each) => each.reveal().toString('base64'));
  assert.deepEqual(keys, [key, olderKey]);
  assert.doesNotMatch(JSON.stringify(config), /hunter|AQEB|AgIC/);
});

test('documentation is off in production unless it is asked for', () => {
  assert.equal(readConfig({ NODE_ENV: 'production' }).docs, false);
  assert.equal(readConfig({ NODE_ENV: 'production', SLIPWAY_DOCS: 'on' }).docs, true);
  for (const off of ['off', 'OFF', 'false', '0']) assert.equal(readConfig({ SLIPWAY_DOCS: off }).docs, false);
});

test('monitoring listens with the API on a loopback address only, unless told otherwise', () => {
  for (const host of ['localhost', '::1', '127.0.0.1', '127.8.9.1']) {
    assert.deepEqual(readConfig({ SLIPWAY_HOST: host }).monitorListen, { at: 'main' }, host);
  }
  for (const host of ['0.0.0.0', '::', '192.0.2.1', '127.evil.example']) {
    assert.deepEqual(readConfig({ SLIPWAY_HOST: host }).monitorListen, { at: 'off' }, host);
  }
  const token = { SLIPWAY_MONITOR_TOKEN: 'for-the-monitor-alone' };
  const told = readConfig({ SLIPWAY_HOST: '0.0.0.0', SLIPWAY_MONITOR_LISTEN: 'main', ...token });
  assert.deepEqual(told.monitorListen, { at: 'main' });
});

const wrongValues: readonly (readonly [name: string, ...values: string[]])[] = [
  ['SLIPWAY_HOST', ' '],
  ['SLIPWAY_PORT', '65536', '-1', 'http', '80.5', '1e3', '0x50', '99999999999', ' 80'],
  [
    'SLIPWAY_PUBLIC_URL',
    'deploy.example.com',
    'ftp://a.example',
    'https://a.example/path',
    'https://a?b',
    'https://u@a',
  ],
  ['SLIPWAY_MAIL_FROM', '\t'],
  ['SLIPWAY_DOCS', 'perhaps', 'yes'],
  ['SLIPWAY_REGISTRATION', 'Open', 'invite'],
  [
    'SLIPWAY_TRUSTED_PROXIES',
    'proxy.example',
    '10.0.0.0/33',
    '::1/129',
    '10.0.0.0/8/8',
    '10.0.0.1,all',
    '10.0.0.0/',
  ],
  ['SLIPWAY_CORS_ORIGINS', '*', 'https://a.example/path', 'https://a.example,null'],
  ['SLIPWAY_MONITOR_LISTEN', 'on', '9090', '127.0.0.1:65536', ':9090', 'http://127.0.0.1:9090', '[::1:9090'],
  ['SLIPWAY_LOG_LEVEL', 'verbose'],
  ['SLIPWAY_LIMIT_REQUESTS', '0', '1000001', 'none'],
  ['SLIPWAY_LIMIT_SIGN_IN', '0', '1000001', '-5'],
  ['SLIPWAY_LIMIT_SEARCH', '0', '1000001', 'few'],
  ['SLIPWAY_LIMIT_TRIGGERS', '0', '1000001', 'few'],
  ['SLIPWAY_LIMIT_STREAMS', '0', '1000001', 'few'],
  ['SLIPWAY_LIMIT_STREAMS_TOTAL', '0', '1000001', 'all'],
  ['SLIPWAY_LIMIT_TESTS', '0', '1000001', 'few'],
  ['SLIPWAY_ACME_DIRECTORY', 'letsencrypt', 'ftp://authority.example/', 'https://user@authority.example/'],
  ['SLIPWAY_ACME_CA_FILE', '/nowhere/ca.pem'],
  ['SLIPWAY_POLL_SECONDS', '-1', '86401', 'hourly'],
  ['SLIPWAY_LIMIT_MIRROR_MB', '0', '1000001', '2GB'],
  ['SLIPWAY_LIMIT_MIRRORS_MB', '0', '10000001', '20GB'],
  ['SLIPWAY_KEEP_FREE_MB', '-1', '10000001', '1GB'],
  ['SLIPWAY_ALLOW_PRIVATE_EGRESS', 'perhaps'],
  ['SLIPWAY_SERVER_NETWORKS', 'none,private', 'all', '10.0.0.0/33', 'web.example.com', '10.0.0'],
  ['SLIPWAY_DNS_SERVERS', 'dns.example', '192.0.2.53:0', '192.0.2.53:99999', '[::1', '1.2.3'],
  ['SLIPWAY_CA_FILE', '/nowhere/ca.pem'],
  ['SLIPWAY_EVENT_DAYS', '0', '3651', 'a week'],
  ['SLIPWAY_OPERATION_DAYS', '0', '3651', 'a year'],
  ['SLIPWAY_AUDIT_DAYS', '30', '3651', 'for ever'],
  ['SLIPWAY_KEEP_DEPLOYMENTS', '9', '1000001', 'all'],
  ['SLIPWAY_LIMIT_OPERATIONS_PER_WORKSPACE', '0', '1001', 'many'],
  ['SLIPWAY_LIMIT_OPERATIONS_PER_SERVER', '0', '1001', '1.5'],
  ['SLIPWAY_LIMIT_IMPORT_MB', '0', '10000001', '2GB'],
  ['SLIPWAY_LIMIT_IMPORT_DATA_MB', '0', '100000001', '2GB'],
  ['SLIPWAY_LIMIT_UPLOAD_MB', '0', '100001', '1GB'],
  ['SLIPWAY_LIMIT_UPLOAD_UNPACKED_MB', '0', '1000001', '2GB'],
  ['SLIPWAY_LIMIT_UPLOAD_FILES', '0', '200001', 'many'],
  ['SLIPWAY_LIMIT_UPLOADS_MB', '0', '10000001', '10GB'],
  ['SLIPWAY_BACKUP_KEEP_REPLACED_DAYS', '-1', '366', 'a week'],
  [
    'SLIPWAY_OIDC_ISSUER',
    ...[
      'id.example.com',
      'https://id.example.com/?a=1',
      'https://u:p@id.example.com',
      'http://id.example.com',
    ],
    'https://id.example.com/.well-known/openid-configuration',
  ],
  ['SLIPWAY_OIDC_CLIENT_ID', ' '],
  ['SLIPWAY_OIDC_NAME', ' '],
  ['SLIPWAY_OIDC_SCOPES', 'email profile', 'openid "email"'],
  ['SLIPWAY_OIDC_ACCOUNTS', 'open', 'all'],
  ['SLIPWAY_OIDC_EMAIL_DOMAINS', '@example.com', 'localhost', 'example.com;example.org'],
  ['SLIPWAY_OIDC_TRUST_EMAIL', 'perhaps'],
  ['SLIPWAY_OIDC_SECOND_FACTOR', 'mfa otp', 'mfä', `mfa,${'x'.repeat(201)}`],
  ['SLIPWAY_OIDC_GROUPS_CLAIM', ' '],
  ['SLIPWAY_OIDC_SECOND_FACTOR', 'mfa otp', 'm\u00fcfa'],
  [
    'SLIPWAY_OIDC_ROLES',
    ...['platform=admin', '[]', '{}', 'null', '{"a": {"main": "admin"}}', '{"a": "admin"}'],
    '{"a": {"01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b": "king"}}',
  ],
];

for (const [name, ...values] of wrongValues) {
  test(`a wrong ${name} is refused with a sentence that names it and shows the value`, async () => {
    for (const value of values) {
      const sentence = await sentenceOf({ [name]: value });
      assert.ok(sentence.startsWith(`${name} is wrong: ${JSON.stringify(value)} is `), sentence);
      assert.ok(sentence.endsWith('.'), sentence);
    }
  });
}

const wrongSecrets: readonly (readonly [name: string, ...values: string[]])[] = [
  ['SLIPWAY_DATABASE_URL', 'hunter2', 'mysql://slipway:hunter2@db.example/slipway', 'hunter2:5432/slipway'],
  ['SLIPWAY_SMTP_URL', 'hunter2', 'https://ops:hunter2@mail.example', 'smtp://'],
  ['SLIPWAY_MONITOR_TOKEN', 'hunter2', 'hunter2 with spaces in it', 'hunter2'.repeat(1_000)],
  ['SLIPWAY_OIDC_CLIENT_SECRET', ' hunter2', 'hunter2\n', 'hun\nter2'],
  ['SLIPWAY_MASTER_KEY', 'hunter2', `${key}hunter2`, `${key},hunter2`, `${key},`, key.slice(2)],
];

for (const [name, ...values] of wrongSecrets) {
  test(`a wrong ${name} is refused with a sentence that names it and shows nothing of the value`, async () => {
    for (const value of values) {
      const sentence = await sentenceOf({ [name]: value });
      assert.ok(sentence.startsWith(`${name} is wrong: its value is not `), sentence);
      assert.doesNotMatch(sentence, /hunter2|AQEB/);
    }
  });
}

test('every setting that can be wrong is tried above', () => {
  const tried = new Set([...wrongValues, ...wrongSecrets].map(([name]) => name));
  const any = ['SLIPWAY_DATA_DIR', 'SLIPWAY_BACKUP_DIR', 'SLIPWAY_UPLOAD_DIR']; // every text names a folder
  const missing = Object.values(settings).filter(({ env }) => !tried.has(env) && !any.includes(env));
  assert.deepEqual(missing, []);
});

test('an unknown name with our prefix is refused, so that a typing error does not pass for a setting', async () => {
  assert.match(await sentenceOf({ SLIPWAY_PROT: '80' }), /^SLIPWAY_PROT is not a setting of Slipway\./);
  assert.match(await sentenceOf({ SLIPWAY_: '' }), /^SLIPWAY_ is not a setting/);
  assert.doesNotMatch(await sentenceOf({ SLIPWAY_MASTERKEY: 'hunter2' }), /hunter2/);
  assert.equal(readConfig({ slipway_prot: '80', PATH: '/bin', XSLIPWAY_PROT: '80' }).port, 4400);
});

test('who wants to be first on a service that others reach finds registration open for one account only', () => {
  const registration = (env: Record<string, string>) => readConfig(env).registration;
  for (const host of ['127.0.0.1', '::1', 'localhost']) {
    assert.equal(registration({ SLIPWAY_HOST: host }), 'open', host);
    assert.equal(registration({ SLIPWAY_HOST: host, SLIPWAY_PUBLIC_URL: 'http://localhost:4400' }), 'open');
  }
  for (const host of ['0.0.0.0', '::', '192.0.2.7', 'deploy.example.com'])
    assert.equal(registration({ SLIPWAY_HOST: host }), 'first', host);
  // Behind a proxy on the same machine it listens on loopback, and everyone reaches it.
  assert.equal(registration({ SLIPWAY_PUBLIC_URL: 'https://deploy.example.com' }), 'first');
  for (const said of ['open', 'first', 'closed'] as const)
    for (const host of ['127.0.0.1', '0.0.0.0'])
      assert.equal(registration({ SLIPWAY_HOST: host, SLIPWAY_REGISTRATION: said }), said);
});

test('sign-in by OpenID Connect is set up as a whole or not at all', async () => {
  const id = '01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b';
  const least = {
    SLIPWAY_OIDC_ISSUER: 'https://id.example.com/realms/main',
    SLIPWAY_OIDC_CLIENT_ID: 'slipway',
  };
  const { oidc } = readConfig({
    ...least,
    SLIPWAY_OIDC_ROLES: JSON.stringify({ 'a, b': { [id]: 'admin' } }),
  });
  assert.deepEqual(
    [oidc?.issuer, oidc?.scopes, oidc?.accounts, oidc?.groupsClaim, oidc?.trustEmail],
    [least.SLIPWAY_OIDC_ISSUER, 'openid email profile', 'registration', 'groups', false],
  );
  assert.deepEqual([...(oidc?.roles.get('a, b') ?? [])], [[id, 'admin']]);
  const wrong: [Record<string, string>, RegExp][] = [
    [{ SLIPWAY_OIDC_CLIENT_ID: 'slipway' }, /not SLIPWAY_OIDC_ISSUER/],
    [{ SLIPWAY_OIDC_ISSUER: 'https://id.example.com' }, /not SLIPWAY_OIDC_CLIENT_ID/],
    [{ ...least, SLIPWAY_OIDC_ACCOUNTS: 'groups' }, /needs the groups of SLIPWAY_OIDC_ROLES/],
  ];
  for (const [env, sentence] of wrong) assert.match(await sentenceOf(env), sentence);
  const secret = { ...least, SLIPWAY_OIDC_CLIENT_SECRET: 'hush' };
  assert.doesNotMatch(JSON.stringify(readConfig(secret)), /hush/);
});
