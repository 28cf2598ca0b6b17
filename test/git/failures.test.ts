import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { tempFolder } from '../../lab/services/git/test-bench.ts';
import { requireGit } from '../../src/adapters/git/run-git.ts';
import { until } from '../support/until.ts';
import { listen, standBetween } from './servers.ts';
import {
  bareOf,
  commitFiles,
  faultOf,
  key,
  mirrorsIn,
  openMirrors,
  processesShowing,
  signal,
} from './support.ts';

const repo = key('trouble');
const dirOf = (folder: string, generation = 'g1') => join(folder, 'mirrors', repo, generation);

test('each way to fail has words of its own', async (t) => {
  const mirrors = mirrorsIn(tempFolder(t));
  const ask = (url: string) => faultOf(mirrors.fetch(repo, { url }, { want: { branch: 'main' }, signal }));
  const page = await listen(
    t,
    createHttp((_request, response) => void response.end('<html>\n<p>hello</p>\n</html>\n')),
  );
  assert.match((await ask(`http://127.0.0.1:${page}/a.git`)).message, /not a Git repository/);
  const broken = await listen(
    t,
    createHttp((_request, response) => void response.writeHead(500).end()),
  );
  assert.equal((await ask(`http://127.0.0.1:${broken}/a.git`)).code, 'provider_failed');
  const gone = await listen(
    t,
    createHttp((_request, response) => void response.writeHead(404).end()),
  );
  assert.equal((await ask(`http://127.0.0.1:${gone}/a.git`)).code, 'repository_not_found');
  assert.equal((await ask(`https://127.0.0.1:${page}/a.git`)).code, 'egress_failed');
  const refused = await ask('http://127.0.0.1:1/a.git');
  assert.equal(refused.code, 'provider_unreachable');
  assert.match(refused.message, /refuses the connection/);
  const mute = await listen(
    t,
    createServer((socket) => void socket.destroy()),
  );
  assert.equal((await ask(`http://127.0.0.1:${mute}/a.git`)).code, 'provider_unreachable');
});

test('a git that is missing or too old is told as that', async (t) => {
  const folder = tempFolder(t);
  assert.equal((await faultOf(requireGit({ PATH: folder }))).code, 'git_unavailable');
  writeFileSync(join(folder, 'git'), '#!/bin/sh\necho git version 2.36.9\n', { mode: 0o755 });
  const old = await faultOf(requireGit({ PATH: folder }));
  assert.equal(old.code, 'git_unavailable');
  assert.match(old.message, /2\.36\.9/);
  await requireGit();
});

test('a fetch that takes too long, or is given up, ends with all its processes', async (t) => {
  const setup = await openMirrors(t);
  const { bench, source, folder } = setup;
  await bench.host.createRepository({ owner: 'ada', name: 'app' });
  commitFiles(bareOf(setup, 'ada/app'), { a: '1' });
  bench.host.setFault({ pathPrefix: '/ada/app.git', status: null, delayMs: 60_000 });
  const late = mirrorsIn(folder, { limits: { timeoutMs: 300 } });
  assert.equal(
    (await faultOf(late.fetch(repo, source('ada/app'), { want: 'default', signal }))).code,
    'deadline_exceeded',
  );
  const stop = new AbortController();
  const given = setup.mirrors.fetch(repo, source('ada/app'), {
    want: { branch: 'main' },
    signal: stop.signal,
  });
  const url = source('ada/app').url;
  await until(() => processesShowing(url).length >= 2, 'git and its helper to run');
  stop.abort(new Error('enough'));
  await assert.rejects(given, /enough/);
  // Git's own limit for silence, 30 s, would end its helper too.
  await until(() => processesShowing(url).length === 0, 'all processes to be gone', 25_000);
  bench.host.setFault({ pathPrefix: '/ada/app.git', status: null });
  assert.equal(
    (await setup.mirrors.fetch(repo, source('ada/app'), { want: 'default', signal })).branch,
    'main',
  );
  assert.deepEqual(readdirSync(join(folder, 'mirrors', repo)).sort(), ['g1', 'used']);
});

test('a repository that grows beyond the limit is stopped while it arrives, and leaves nothing', async (t) => {
  const setup = await openMirrors(t, { limits: { maxBytes: 1_000_000 } });
  const { bench, mirrors, folder } = setup;
  await bench.host.createRepository({ owner: 'ada', name: 'app' });
  const whole = 20_000_000;
  commitFiles(bareOf(setup, 'ada/app'), { big: randomBytes(whole) });
  let sent = 0;
  const port = await standBetween(t, bench.host.url, {
    send: async (response, body) => {
      for (let from = 0; from < body.length && !response.destroyed; from += 500_000) {
        const slice = body.subarray(from, from + 500_000);
        sent += slice.length;
        response.write(slice);
        if (body.length > 500_000) await sleep(30);
      }
      response.end();
    },
  });
  const source = { url: `http://127.0.0.1:${port}/ada/app.git` };
  const fault = await faultOf(mirrors.fetch(repo, source, { want: { branch: 'main' }, signal }));
  assert.equal(fault.code, 'repository_too_large');
  assert.ok(sent < whole, `${sent} bytes were sent`);
  assert.deepEqual(readdirSync(join(folder, 'mirrors', repo)), ['used']);
});

test('a mirror that is too large only because of what is no longer needed is built anew', async (t) => {
  const setup = await openMirrors(t, { limits: { maxBytes: 1_000_000 } });
  const { bench, mirrors, source, folder } = setup;
  await bench.host.createRepository({ owner: 'ada', name: 'app' });
  const bare = bareOf(setup, 'ada/app');
  for (let round = 0; round < 3; round += 1) {
    const sha = commitFiles(bare, { big: randomBytes(450_000) });
    assert.equal((await mirrors.fetch(repo, source('ada/app'), { want: 'default', signal })).commit.sha, sha);
  }
  assert.ok(existsSync(dirOf(folder, 'g2')) && !existsSync(dirOf(folder)));
});
