/** What the demo does, over the API alone: each step as a person would do it, and told while it goes on. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from '../scripts/commands.ts';
import { LabClient } from './client.ts';
import type { LabDescription } from './description.ts';
import type { Progress } from './progress.ts';
import { getOver } from './services/acme.ts';

export const password = 'a password for the demo';
const email = 'you@example.com';

type Body = Record<string, unknown>;

class Api {
  token = '';
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async call(method: string, path: string, body?: unknown): Promise<Body> {
    const answer = await fetch(`${this.#url}/api/v1${path}`, {
      method,
      headers: {
        ...(this.token && { authorization: `Bearer ${this.token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} was answered with ${answer.status}: ${text}`);
    return text === '' ? {} : JSON.parse(text);
  }

  /** Until it is so; a fault on the way ends it. */
  async until(path: string, isSo: (body: Body) => boolean): Promise<Body> {
    for (;;) {
      const body = await this.call('GET', path);
      if (isSo(body)) return body;
      const fault = Object(body).fault ?? Object(body.analysis).fault;
      if (fault) throw new Error(`${Object(fault).message} ${Object(fault).evidence ?? ''}`);
      await sleep(200);
    }
  }
}

export interface Shown {
  readonly url: string;
  readonly plainUrl: string;
  readonly hostname: string;
  readonly address: string;
  readonly caFile: string;
  readonly email: string;
  readonly backup: string;
  readonly repository: string;
}

export async function demoStory(
  url: string,
  about: LabDescription,
  outbox: string,
  progress: Progress,
): Promise<Shown> {
  const api = new Api(url);
  const lab = new LabClient(about.control);
  const [server] = about.servers;
  if (!server?.keyFile) throw new Error('The lab has no server with a key.');
  const { address, port, user: username, keyFile } = server;

  await progress.step('An account, confirmed by the code in its mail', () => signUp(api, outbox));
  const serverId = await progress.step('A server: host key pinned, Docker and proxy set up', async () => {
    const auth = { type: 'key', privateKey: readFileSync(keyFile, 'utf8') };
    const { id } = await api.call('POST', '/servers', { name: 'web-1', host: address, port, username, auth });
    await api.until(`/servers/${id}`, ({ status }) => status === 'ready');
    return String(id);
  });
  const projectId = await progress.step('A repository, read without running any of it', async () => {
    await lab.call('POST', '/git/repositories', {
      owner: about.git.login,
      name: 'notes',
      private: true,
      from: join(root, 'lab/apps/express-postgres'),
    });
    const account = { provider: 'github', token: about.git.token, baseUrl: about.git.url };
    const { id: providerId } = await api.call('POST', '/git-provider/save-token', account);
    const repository = { providerId, fullName: `${about.git.login}/notes` };
    const { id } = await api.call('POST', '/projects', { name: 'Notes', repository });
    await api.until(`/projects/${id}`, ({ analysis }) => Object(analysis).status === 'succeeded');
    return String(id);
  });
  const environmentId = await progress.step('A deployment, with PostgreSQL beside it', async () => {
    const environment = { name: 'production', serverId, services: [{ kind: 'postgres' }] };
    const made = await api.call('POST', `/projects/${projectId}/finalize`, { environment, deploy: true });
    const id = String(Object(made.environment).id);
    const path = `/environments/${id}/deployments/${Object(made.deployment).id}`;
    await api.until(path, ({ status }) => status === 'succeeded');
    await api.call('PATCH', `/environments/${id}/auto-deploy`, { enabled: true });
    return id;
  });
  const plainUrl = String((await api.call('GET', `/environments/${environmentId}`)).url);
  const hostname = `notes.${about.dns.zone}`;
  await progress.step(`A domain, proven by DNS, and a certificate for ${hostname}`, () =>
    name(api, lab, { environmentId, hostname, address }),
  );
  const backup = await progress.step(
    'A backup, restored into a throw-away database and compared',
    async () => {
      const { id } = await api.call('POST', `/environments/${environmentId}/backups/trigger`, {});
      const path = `/environments/${environmentId}/backups/${id}`;
      const { sizeBytes, verifiedAt } = await api.until(path, ({ status }) => status === 'succeeded');
      return `${sizeBytes} bytes, verified ${verifiedAt ?? 'not yet'}`;
    },
  );
  const caFile = join(about.dir, 'root.pem');
  writeFileSync(caFile, await getOver(`${about.acme.management}/roots/0`, about.acme.caFile));
  const repository = `${about.git.url}/${about.git.login}/notes.git`;
  return { url: `https://${hostname}`, plainUrl, hostname, address, caFile, email, backup, repository };
}

async function signUp(api: Api, outbox: string): Promise<void> {
  await api.call('POST', '/auth/register', { email, password });
  for (;;) {
    const [mail] = readdirSync(outbox).filter((each) => each.endsWith('.eml'));
    const text = mail === undefined ? '' : readFileSync(join(outbox, mail), 'utf8');
    const [, code] = /\r?\n\r?\n[\s\S]*?\b(\d{6})\b/.exec(text) ?? [];
    if (code !== undefined) {
      const { accessToken } = await api.call('POST', '/auth/verify-otp', { email, code });
      api.token = String(accessToken);
      return;
    }
    await sleep(50);
  }
}

async function name(
  api: Api,
  lab: LabClient,
  { environmentId, hostname, address }: { environmentId: string; hostname: string; address: string },
): Promise<void> {
  const { id, verification } = await api.call('POST', '/domains', { hostname });
  const { name: record, value } = Object(verification);
  await lab.call('PUT', '/dns', { name: record, type: 'TXT', values: [value] });
  await lab.call('PUT', '/dns', { name: hostname, type: 'A', values: [address] });
  await api.call('POST', `/domains/${id}/verify`);
  await api.call('POST', `/environments/${environmentId}/domain`, { hostname });
  await api.until(`/environments/${environmentId}/domains`, ({ items }) => {
    const [found] = Array.from(Object(items), (each) => Object(each));
    const { status, fault } = Object(found?.certificate);
    if (fault) throw new Error(String(Object(fault).message));
    return status === 'issued';
  });
}
