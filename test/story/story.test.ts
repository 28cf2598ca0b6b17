/**
 * One story: everything that the service was described to do, in the order in which someone would do it, through a
 * client that is made from the document. Every answer is as the document says, or the story ends there.
 */
import assert from 'node:assert/strict';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { getOver } from '../../lab/services/acme.ts';
import { startGitHost } from '../../lab/services/git/git-host.ts';
import { enoughScopes } from '../support/git.ts';
import { newInstance } from '../support/instance.ts';
import { openLab, type TestLab, type TestServer } from '../support/lab.ts';
import { Mailbox } from '../support/mailbox.ts';
import { temporaryFolder } from '../support/postgres.ts';
import { visitTls } from '../support/proxy-tls.ts';
import { hangMs, until } from '../support/until.ts';
import { type Body, StoryClient } from './client.ts';
import { described } from './described.ts';
import { eachWithinTheirs, gatherTeam, itIsWritten } from './team.ts';

const lab = await openLab();

class Story {
  readonly client: StoryClient;
  readonly mailbox: Mailbox;
  readonly lab: TestLab;
  readonly server: TestServer;
  /** What came out so far, by name. */
  readonly ids: Record<string, string> = {};

  constructor(client: StoryClient, mailbox: Mailbox, lab: TestLab, server: TestServer) {
    this.client = client;
    this.mailbox = mailbox;
    this.lab = lab;
    this.server = server;
  }

  id(name: string): string {
    const id = this.ids[name];
    assert.ok(id, `no ${name} yet`);
    return id;
  }

  async operation(id: unknown): Promise<Body> {
    assert.equal(typeof id, 'string', 'an operation was begun');
    const found = await until(async () => {
      const seen = await this.client.call('getOperation', { path: { id: String(id) } });
      return seen.finishedAt === null ? undefined : seen;
    }, `the operation ${id}`);
    assert.equal(found.status, 'succeeded', JSON.stringify(found.fault));
    return found;
  }

  async deployed(did: unknown): Promise<void> {
    const path = { id: this.id('environment'), did: String(did) };
    const events = await this.client.follow('followDeployment', { path });
    const end = events.at(-1);
    const { fault } = await this.client.call('getDeployment', { path });
    assert.deepEqual([end?.event, end?.data.status], ['end', 'succeeded'], JSON.stringify(fault));
  }

  async page(path: string): Promise<string> {
    const answer = await fetch(`${this.id('url')}${path}`, { signal: AbortSignal.timeout(hangMs) });
    return `${answer.status} ${await answer.text()}`;
  }
}

const person = { email: 'ada@example.com', password: 'a long enough password' };
const zone = `story-${process.pid}.${lab.about.dns.zone}`;

async function begin(t: TestContext): Promise<Story> {
  const server = await lab.fresh(t, 'docker');
  const { dataDir, start } = newInstance(t);
  // Mails go to the outbox, where they are read as from a mailbox.
  const { SLIPWAY_SMTP_URL: _, SLIPWAY_MAIL_FROM: __, ...settings } = lab.about.settings;
  const service = start({ ...settings, SLIPWAY_LIMIT_REQUESTS: '100000' });
  const client = new StoryClient(await service.url());
  return new Story(client, new Mailbox(join(dataDir, 'outbox')), lab, server);
}

test('everything that the service was described to do, as someone would do it, with every answer as documented', async (t) => {
  const story = await begin(t);
  const { client } = story;

  await chapter('an account, and a forgotten password', async () => {
    await client.call('register', { body: person });
    const code = await story.mailbox.code(person.email);
    await client.call('verifyOtp', { body: { email: person.email, code } });
    await client.call('forgotPassword', { body: { email: person.email } });
    const mail = await story.mailbox.next(person.email);
    const token = /[?#&]token=([\w.~-]+)/.exec(mail.text)?.[1];
    assert.ok(token, mail.text);
    await client.call('resetPassword', { body: { token, password: 'another long password' } });
    await client.call('login', { body: person, status: 401 });
    const signedIn = await client.call('login', { body: { ...person, password: 'another long password' } });
    client.token = String(signedIn.accessToken);
    await client.call('getMe');
  });

  const watching = client.follow('followEvents', {}, ({ event }) => event === 'project_updated');
  // Where a chapter fails, that is what is told.
  watching.catch(() => undefined);

  await chapter('a Git account', async () => {
    const dir = temporaryFolder('story-git');
    const host = await startGitHost({ address: '127.0.0.1', port: 0, dir });
    host.createAccount({ login: 'ada', name: 'Ada Lovelace', kind: 'user' });
    const { token } = host.createToken({ login: 'ada', scopes: enoughScopes });
    const from = temporaryFolder('story-app');
    cpSync(new URL('../../lab/apps/express-postgres', import.meta.url).pathname, from, { recursive: true });
    await host.createRepository({ owner: 'ada', name: 'notes', private: true, from });
    ended.push(() => host.close());
    const saved = await client.call('saveGitToken', {
      body: { provider: 'github', token, baseUrl: host.url },
    });
    story.ids.provider = String(saved.id);
    await client.call('listGitProviders');
    const found = await client.call('searchRepositories', { query: { q: 'notes' } });
    assert.match(JSON.stringify(found.items), /ada\/notes/);
    const path = { providerId: story.id('provider'), repo: 'ada/notes' };
    assert.match(JSON.stringify(await client.call('listBranches', { path })), /"main"/);
  });
  t.after(async () => {
    for (const end of ended.reverse()) await end();
  });

  await chapter('a server', async () => {
    const { address: host, port, user: username, keyFile } = story.server.about;
    const auth = { type: 'key', privateKey: readFileSync(keyFile ?? '', 'utf8') };
    const steps = await client.follow('testConnection', {
      body: { name: 'one', host, port, username, auth },
    });
    assert.equal(steps.find(({ event }) => event === 'result')?.data.ok, true, JSON.stringify(steps));
    const made = await client.call('registerServer', { body: { name: 'one', host, port, username, auth } });
    story.ids.server = String(made.id);
    await until(
      async () => (await client.call('getServer', { path: { id: story.id('server') } })).status === 'ready',
      'the server to be ready',
    );
    await client.call('listServers');
    const path = { id: story.id('server') };
    await client.call('getServerSecurity', { path });
    await client.call('hardenServer', { path, body: { dryRun: true } });
    const hardening = await client.call('hardenServer', { path, body: { steps: ['sysctl'] } });
    await story.operation(hardening.id);
  });

  await chapter('a project, analysed and deployed with a database', async () => {
    const repository = { providerId: story.id('provider'), fullName: 'ada/notes' };
    const query = { providerId: story.id('provider'), repo: 'ada/notes' };
    assert.match(JSON.stringify(await client.call('analyzeRepository', { query })), /express/);
    const made = await client.call('createProject', { body: { name: 'Notes', repository } });
    story.ids.project = String(made.id);
    const path = { id: story.id('project') };
    const analysis = await client.follow('followAnalysis', { path });
    assert.equal(analysis.at(-1)?.event, 'end');
    await client.call('retryAnalysis', { path });
    assert.equal((await client.follow('followAnalysis', { path })).at(-1)?.event, 'end');
    await client.call('updateProject', { path, body: { name: 'My notes' } });
    await client.call('listProjects');
    assert.equal((await client.call('getProject', { path })).name, 'My notes');
    const environment = {
      name: 'production',
      serverId: story.id('server'),
      services: [{ kind: 'postgres' }],
    };
    const done = await client.call('finalizeProject', { path, body: { environment, deploy: true } });
    story.ids.environment = String(Object(done.environment).id);
    story.ids.first = String(Object(done.deployment).id);
    await story.deployed(story.id('first'));
    // The server's own address, which stays beside any domain.
    const { url } = await client.call('getEnvironment', { path: { id: story.id('environment') } });
    story.ids.url = String(url);
    assert.match(await story.page('/healthz'), /^200 /);
  });

  await chapter('variables, another deployment, one that is cancelled, the way back', async () => {
    const path = { id: story.id('environment') };
    const variables = [{ key: 'GREETING', value: 'hello', secret: false }];
    await client.call('setVariables', { path, body: { variables } });
    const second = await client.call('deploy', { path, body: {} });
    await story.deployed(second.id);
    const third = await client.call('deploy', { path, body: {} });
    await client.call('cancelDeployment', { path: { ...path, did: String(third.id) } });
    await client.follow('followDeployment', { path: { ...path, did: String(third.id) } });
    const back = await client.call('rollBackDeployment', {
      path: { ...path, did: story.id('first') },
      body: {},
    });
    await story.deployed(back.id);
    const { items } = await client.call('listDeployments', { path });
    assert.equal(Array.from(Object(items)).length, 4);
    assert.match(await story.page('/healthz'), /^200 /);
  });

  await chapter('a team of three, and a CI that deploys', async () => {
    const team = await gatherTeam(client, story.mailbox, story.id('project'));
    await eachWithinTheirs(client, team, story.id('environment'));
    const path = { id: story.id('environment') };
    const deployed = await client.call('deploy', { path, body: {}, token: team.ci });
    await story.deployed(deployed.id);
    await itIsWritten(client);
    await client.call('deploy', { path, body: {}, token: team.ci, status: 401 });
  });

  await chapter('another environment, changed in every way and deleted', async () => {
    const made = await client.call('createEnvironment', {
      body: { projectId: story.id('project'), name: 'staging' },
    });
    const path = { id: String(made.id) };
    await client.call('updateEnvironment', { path, body: { name: 'trial' } });
    await client.call('setBranch', { path, body: { branch: 'main' } });
    await client.call('linkServer', { path, body: { serverId: story.id('server') } });
    await client.call('setAutoDeploy', { path, body: { enabled: true } });
    await client.call('setServices', { path, body: { services: [{ kind: 'redis' }], remove: ['postgres'] } });
    const gone = await client.call('deleteEnvironment', { path, query: { deleteData: 'true' } });
    if (typeof gone.id === 'string') await story.operation(gone.id);
  });

  await chapter('a domain with a certificate', async () => {
    const { address } = story.server.about;
    const domain = await client.call('registerDomain', { body: { hostname: zone } });
    story.ids.domain = String(domain.id);
    const { name, value } = Object(domain.verification);
    for (const [record, type, content] of [
      [name, 'TXT', value],
      [zone, 'A', address],
    ]) {
      await lab.client.call('PUT', '/dns', { name: record, type, values: [content] });
      ended.push(() => lab.client.call('DELETE', `/dns?name=${record}`));
    }
    const proven = await client.call('verifyDomain', { path: { id: story.id('domain') } });
    assert.equal(proven.status, 'verified', JSON.stringify(proven.lastCheck));
    await client.call('listDomains');
    const connected = await client.call('connectDomain', {
      path: { id: story.id('environment') },
      body: { hostname: zone },
    });
    story.ids.name = String(connected.id);
    const ca = await getOver(`${lab.about.acme.management}/roots/0`, lab.about.acme.caFile);
    await until(
      () =>
        visitTls({ address, host: zone, ca }, '/healthz')
          .then(({ status }) => status === 200)
          .catch(() => false),
      'https',
    );
  });

  await chapter('backups: made, imported over, and restored', async () => {
    const path = { id: story.id('environment') };
    await fetchNote(story, 'the first note');
    const retention = { keepLast: 5, keepDays: 30 };
    const config = { enabled: true, cron: '0 3 * * *', timezone: 'Europe/Berlin', retention };
    await client.call('updateBackupConfig', { path, body: { ...config, destination: { type: 'local' } } });
    const backup = await client.call('triggerBackup', { path, body: {} });
    const bid = String(backup.id);
    const made = await until(async () => {
      const found = await client.call('getBackup', { path: { ...path, bid } });
      return found.finishedAt === null ? undefined : found;
    }, 'the backup');
    assert.equal(made.status, 'succeeded', JSON.stringify(made.fault));
    assert.ok(made.verifiedAt, 'it was restored and compared');
    const content = "insert into notes (text) values ('imported');\n";
    const imported = await client.call('importDump', {
      path,
      file: { field: 'file', name: 'more.sql', content },
    });
    await story.operation(imported.operationId ?? imported.id);
    assert.match(await story.page('/notes'), /imported/);
    const restored = await client.call('restoreBackup', { path: { ...path, bid }, body: {} });
    await story.operation(restored.operationId ?? restored.id);
    const notes = await story.page('/notes');
    assert.match(notes, /the first note/);
    assert.doesNotMatch(notes, /imported/);
    await client.call('listBackups', { path });
  });

  await chapter('someone who is told', async () => {
    const connector = await client.call('createNotificationConnector', {
      body: { type: 'webhook', name: 'Catcher', config: { url: `${lab.about.catcher}/story` } },
    });
    const path = { id: String(connector.id) };
    await client.call('listNotificationConnectors');
    const tried = await client.call('testNotificationConnector', { path });
    assert.equal(tried.delivered, true, JSON.stringify(tried));
    const projectId = story.id('project');
    await client.call('linkNotificationConnectors', {
      path: { projectId },
      body: { connectorIds: [path.id] },
    });
    await client.call('deleteNotificationConnector', { path });
  });

  await chapter('and the end of it all', async () => {
    const name = { id: story.id('environment'), domainId: story.id('name') };
    const released = await client.call('disconnectDomain', { path: name });
    if (typeof released.operationId === 'string') await story.operation(released.operationId);
    await client.call('deleteDomain', { path: { id: story.id('domain') } });
    const gone = await client.call('deleteProject', {
      path: { id: story.id('project') },
      query: { deleteData: 'true' },
    });
    if (typeof gone.id === 'string') await story.operation(gone.id);
    await client.call('getProject', { path: { id: story.id('project') }, status: 404 });
    const left = await client.call('deleteServer', { path: { id: story.id('server') } });
    if (typeof left.id === 'string') await story.operation(left.id);
    await client.call('disconnectGitProvider', { path: { id: story.id('provider') } });
    assert.equal((await story.server.ssh('docker ps --all --quiet --filter label=slipway')).trim(), '');
  });

  assert.equal((await watching).at(-1)?.event, 'project_updated', 'it was told while it happened');
  const called = [...client.operations]
    .filter(([id]) => client.called.has(id))
    .map(([, { method, path }]) => `${method} ${path}`);
  const untold = described
    .map(([method, path]) => `${method} /api/v1${path.replace(/:(\w+)/g, '{$1}')}`)
    .filter((each) => !called.includes(each));
  assert.deepEqual(untold, [], 'every described call is part of the story');
});

/** What comes later makes no sense without what came before: the first that fails ends the story, by its name. */
async function chapter(name: string, tell: () => Promise<void>): Promise<void> {
  try {
    await tell();
  } catch (error) {
    throw new Error(`«${name}»: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

const ended: (() => Promise<unknown>)[] = [];

async function fetchNote(story: Story, text: string): Promise<void> {
  const answer = await fetch(`${story.id('url')}/notes`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text }),
  });
  assert.ok(answer.ok, await answer.text());
}
