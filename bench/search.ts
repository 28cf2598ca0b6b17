/** A search letter by letter, beside asking the Git host itself for each letter. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGitHost } from '../lab/services/git/git-host.ts';
import { type Figure, median, milliseconds } from './figure.ts';
import { signIn } from './http.ts';
import { startService } from './service.ts';

const repositories = 250;
const keystrokes = 100;
const typed = 'shop-17';

export async function benchSearch(): Promise<Figure[]> {
  const dir = mkdtempSync(join(tmpdir(), 'slipway-bench-search-'));
  const host = await startGitHost({ address: '127.0.0.1', port: 0, dir });
  const service = await startService({
    env: { SLIPWAY_ALLOW_PRIVATE_EGRESS: 'on', SLIPWAY_LIMIT_SEARCH: '1000000' },
  });
  try {
    host.createAccount({ login: 'ada', kind: 'user' });
    for (let count = 0; count < repositories; count += 1)
      await host.createRepository({ owner: 'ada', name: `shop-${count}` });
    const { token: gitToken } = host.createToken({
      login: 'ada',
      scopes: ['repo', 'admin:repo_hook', 'read:org'],
    });
    const { token } = await signIn(service.url, service.dataDir, 1);
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const api = `${service.url}/api/v1`;
    await read(`${api}/git-provider/save-token`, headers, {
      provider: 'github',
      token: gitToken,
      baseUrl: host.url,
    });
    const letters = Array.from({ length: keystrokes }, (_, at) => typed.slice(0, (at % typed.length) + 1));
    const first = await timed(() => read(`${api}/git-providers/repositories?q=s`, headers));
    const [ours, theirs]: [number[], number[]] = [[], []];
    const atHost = { authorization: `Bearer ${gitToken}` };
    for (const q of letters) {
      ours.push(await timed(() => read(`${api}/git-providers/repositories?q=${q}`, headers)));
      // One page of the host's own list is the least that a search without memory would ask for.
      theirs.push(await timed(() => read(`${host.apiUrl}/user/repos?per_page=100`, atHost)));
    }
    return [
      { what: `first letter, ${repositories} repositories`, slipway: milliseconds(first) },
      {
        what: `each further letter, median of ${keystrokes}`,
        slipway: milliseconds(median(ours)),
        beside: { name: 'one page of the host’s list', amount: milliseconds(median(theirs)) },
      },
    ];
  } finally {
    await service.stop();
    await host.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function read(url: string, headers: Record<string, string>, body?: object): Promise<void> {
  const answer = await fetch(url, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url}: ${text}`);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
