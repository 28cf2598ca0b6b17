import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HostRepository } from '../src/adapters/git-hosts/git-hosts.ts';
import { RepositoryCache } from '../src/areas/git-providers/repository-cache.ts';
import { type GitProviderId, newId } from '../src/ids.ts';
import { TestClock } from './support/app.ts';
import { faultOf } from './support/faults.ts';
import { openAt, startHost } from './support/git-host.ts';

const found = (id: number, description: string, name = 'app') => ({
  id,
  full_name: `ada/${name}`,
  name,
  owner: { login: 'ada' },
  description,
  private: false,
});

test('whoever runs a Git host cannot fill the memory of the service with what it says of repositories', async (t) => {
  let name = 'app';
  const host = await startHost(t, () => ({
    json: Array.from({ length: 100 }, (_, id) => found(id, 'x'.repeat(70_000), name)),
  }));
  const opened = await openAt('github', host.url);
  const { items } = await opened.repositories({ limit: 100 });
  assert.equal(items.length, 100);
  assert.ok(JSON.stringify(items).length < 300_000, `${JSON.stringify(items).length} bytes are kept`);
  name = 'x'.repeat(70_000);
  assert.equal((await faultOf(() => opened.repositories({ limit: 100 }))).code, 'provider_failed');
});

test('whoever connects account after account cannot fill the memory of the service with their lists', async () => {
  const cache = new RepositoryCache(new TestClock());
  const many: readonly HostRepository[] = Array.from({ length: 2_000 }, (_, id) => ({
    id: String(id),
    fullName: 'ada/app',
    name: 'app',
    owner: 'ada',
    description: null,
    isPrivate: false,
    isArchived: false,
    isFork: false,
    defaultBranch: null,
    cloneUrl: '',
    webUrl: '',
    pushedAt: null,
  }));
  const loads = new Map<GitProviderId, number>();
  const get = (id: GitProviderId) =>
    cache.get(id, '', async () => {
      loads.set(id, (loads.get(id) ?? 0) + 1);
      return { repositories: many, isComplete: true };
    });
  const ids = Array.from({ length: 30 }, () => newId<GitProviderId>());
  for (const id of ids) await get(id);
  for (const id of [...ids].reverse()) await get(id);
  // The last ones were still there, and no more of them than fit.
  const kept = [...loads.values()].filter((count) => count === 1).length;
  assert.ok(kept >= 5 && kept <= 15, `${kept} lists of ${many.length} were kept`);
});
