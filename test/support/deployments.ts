/** A server, a Git host and the service, with a sample application deployed over the API alone. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { VariantName } from '../../lab/servers/variants.ts';
import type { TestAppOptions } from './app.ts';
import { type GitScene, startGitScene } from './git.ts';
import type { TestLab, TestServer } from './lab.ts';
import { analysed, newProject } from './projects.ts';
import { lastOperation } from './servers.ts';
import { hangMs, until } from './until.ts';

const samples = new URL('../../lab/apps/', import.meta.url).pathname;

export type Body = Record<string, unknown>;

export interface Deployed {
  readonly projectId: string;
  readonly environmentId: string;
  readonly repository: string;
  readonly deployment: Body;
}

export interface DeployWish {
  readonly files: Readonly<Record<string, string>>;
  readonly name?: string;
  readonly app?: string;
  readonly settings?: Body;
  readonly variables?: readonly Body[];
  readonly services?: readonly Body[];
  /** The scene's own server, if not said. */
  readonly placement?: Body;
  readonly deploy?: boolean;
}

/** The files of a sample application, with changes on top; `undefined` takes one away. */
export function sample(name: string, changes: Readonly<Record<string, string>> = {}): Record<string, string> {
  const files: Record<string, string> = {};
  const folder = join(samples, name);
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const whole = join(folder, path);
    if (statSync(whole).isFile() && !path.includes('node_modules')) files[path] = readFileSync(whole, 'utf8');
  }
  return { ...files, ...changes };
}

export class DeployScene {
  readonly git: GitScene;
  readonly server: TestServer;
  readonly serverId: string;
  readonly #providerId: string;
  #count = 0;

  constructor(git: GitScene, server: TestServer, serverId: string, providerId: string) {
    this.git = git;
    this.server = server;
    this.serverId = serverId;
    this.#providerId = providerId;
  }

  get token(): string {
    return this.git.person.token;
  }

  async call(method: string, path: string, body?: unknown): Promise<Body> {
    const answer = await this.git.service.call(method, path, {
      token: this.token,
      ...(body !== undefined && { body }),
    });
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
    return answer.body;
  }

  /** From the repository to the first deployment's end. */
  async deployed(wish: DeployWish): Promise<Deployed> {
    this.#count += 1;
    const name = wish.name ?? `app-${this.#count}`;
    await this.git.repository(name, wish.files);
    const repository = { providerId: this.#providerId, fullName: `ada/${name}` };
    const project = await newProject(this.git.service, this.token, { name, repository });
    const { analysis } = await analysed(this.git.service, this.token, project.id);
    assert.equal(Object(analysis).status, 'succeeded', JSON.stringify(Object(analysis).fault));
    const { app, settings, variables, services, placement, deploy = true } = wish;
    const place = placement ? { placement } : { serverId: this.serverId };
    const environment = { name: 'production', ...place, variables, services };
    const body = { app, settings, environment, deploy };
    const made = await this.call('POST', `/projects/${project.id}/finalize`, body);
    const environmentId = String(Object(made.environment).id);
    const first = Object(made.deployment);
    const deployment = deploy ? await this.ended(environmentId, String(first.id)) : {};
    return { projectId: String(project.id), environmentId, repository: `ada/${name}`, deployment };
  }

  async deploy(environmentId: string, body: Body = {}): Promise<Body> {
    const { id } = await this.call('POST', `/environments/${environmentId}/deployments`, body);
    return this.ended(environmentId, String(id));
  }

  /** With its operation, which clears away after the success. */
  async ended(environmentId: string, id: string): Promise<Body> {
    const ended = await until(
      async () => {
        const found = await this.call('GET', `/environments/${environmentId}/deployments/${id}`);
        return found.finishedAt === null ? undefined : found;
      },
      async () =>
        `deployment ${id} to end; its log ends with:\n${(await this.lines(environmentId, id)).slice(-30).join('\n')}`,
    );
    await until(
      async () => (await this.call('GET', `/operations/${ended.operationId}`)).finishedAt !== null,
      `the operation of ${id} to end`,
    );
    return ended;
  }

  async url(environmentId: string): Promise<string> {
    const { url } = await this.call('GET', `/environments/${environmentId}`);
    return String(url);
  }

  /** The body of a page, once the environment answers with 200 there. */
  async page(environmentId: string, path = '/'): Promise<string> {
    const answer = await fetch(`${await this.url(environmentId)}${path}`, {
      signal: AbortSignal.timeout(hangMs),
    });
    const text = await answer.text();
    assert.equal(answer.status, 200, text.slice(0, 500));
    return text;
  }

  async lines(environmentId: string, id: unknown): Promise<string[]> {
    const { items } = await this.call(
      'GET',
      `/environments/${environmentId}/deployments/${id}/logs?limit=1000`,
    );
    return (Array.isArray(items) ? items : []).map((each) => String(each.line));
  }
}

export function succeeded(deployment: Body): void {
  assert.equal(deployment.status, 'succeeded', JSON.stringify(deployment.fault, null, 1));
}

/** Registered with the lab's key and provisioned, as a user would. */
export async function startDeployScene(
  t: TestContext,
  lab: TestLab,
  { variant = 'provisioned', ...options }: TestAppOptions & { readonly variant?: VariantName } = {},
): Promise<DeployScene> {
  const git = await startGitScene(t, options);
  const server = await lab.fresh(t, variant);
  const serverId = await addServer(git, server);
  return new DeployScene(git, server, serverId, await git.connect());
}

export async function addServer({ service, person }: GitScene, server: TestServer): Promise<string> {
  const { address: host, port, user: username, keyFile, name } = server.about;
  const privateKey = readFileSync(keyFile ?? '', 'utf8');
  const body = { name, host, port, username, auth: { type: 'key', privateKey } };
  const made = await service.call('POST', '/servers', { token: person.token, body });
  assert.equal(made.status, 201, made.text);
  const id = String(made.body.id);
  const operation = await lastOperation(service, person.token, id, 'server_provision');
  assert.equal(operation.status, 'succeeded', JSON.stringify(operation.fault));
  return id;
}
