/** A Git host inside a test: accounts, tokens and repositories on a real one, and the service connected to it. */
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { type GitHost, startGitHost } from '../../lab/services/git/git-host.ts';
import { startTestApp, type TestApp, type TestAppOptions } from './app.ts';
import { newPerson, type Person } from './people.ts';
import { temporaryFolder } from './postgres.ts';
import { sharedTestApp } from './shared-app.ts';

export const enoughScopes = ['repo', 'admin:repo_hook', 'read:org'];

export interface GitScene {
  readonly service: TestApp;
  readonly host: GitHost;
  readonly person: Person;
  /** Of the account `ada` at the host. */
  readonly gitToken: string;
  repository(
    name: string,
    files: Readonly<Record<string, string>>,
    isPrivate?: boolean,
  ): Promise<{ sha: string; cloneUrl: string }>;
  connect(token?: string): Promise<string>;
  /** Where a repository of `ada` lies at the host. */
  bareOf(name: string): string;
}

export interface SceneOptions extends TestAppOptions {
  /** For a test that looks at the whole instance or stops it: one for it alone, in place of the file's. */
  readonly isOwn?: boolean;
  /** One that is there already, in place of either. */
  readonly service?: TestApp;
}

/** Loopback is private, so the service has to be told that it may go there. */
export async function startGitScene(t: TestContext, options: SceneOptions = {}): Promise<GitScene> {
  const dir = temporaryFolder('git-host');
  const host = await startGitHost({ address: '127.0.0.1', port: 0, dir });
  const env = { SLIPWAY_ALLOW_PRIVATE_EGRESS: 'on', ...options.env };
  const { env: _, isOwn = false, service: given, ...others } = options;
  const isShared = !isOwn && Object.keys(others).length === 0;
  const service = given ?? (isShared ? await sharedTestApp(env) : await startTestApp(t, { ...others, env }));
  t.after(async () => {
    await host.close();
    rmSync(dir, { recursive: true, force: true });
  });
  host.createAccount({ login: 'ada', name: 'Ada Lovelace', kind: 'user' });
  const { token: gitToken } = host.createToken({ login: 'ada', scopes: enoughScopes });
  const person = await newPerson(service);
  return {
    service,
    host,
    person,
    gitToken,
    bareOf: (name) => join(dir, 'ada', `${name}.git`),
    repository: async (name, files, isPrivate = true) => {
      const from = temporaryFolder('git-tree');
      for (const [path, content] of Object.entries(files)) {
        mkdirSync(dirname(join(from, path)), { recursive: true });
        writeFileSync(join(from, path), content);
      }
      const made = await host.createRepository({ owner: 'ada', name, private: isPrivate, from });
      rmSync(from, { recursive: true, force: true });
      return { sha: made.sha ?? '', cloneUrl: made.cloneUrl };
    },
    connect: async (token = gitToken) => {
      const body = { provider: 'github', token, baseUrl: host.url };
      const saved = await service.call('POST', '/git-provider/save-token', { token: person.token, body });
      assert.ok(saved.status === 201 || saved.status === 200, saved.text);
      return String(saved.body.id);
    },
  };
}
