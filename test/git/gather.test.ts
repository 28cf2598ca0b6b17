import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { tempFolder } from '../../lab/services/git/test-bench.ts';
import type { OutboundFetch } from '../../src/outbound-fetch.ts';
import { listen } from './servers.ts';
import {
  bareOf,
  commitFiles,
  commitTree,
  faultOf,
  key,
  type OddEntry,
  openMirrors,
  type Setup,
  signal,
  unpack,
  writeTree,
} from './support.ts';

const repo = key('parent');

/** A repository whose tree has submodules at `place` each, with the text of `.gitmodules`. */
async function parentWith(
  setup: Setup,
  modules: string,
  places: Readonly<Record<string, string>>,
): Promise<string> {
  const bare = await repository(setup, 'parent');
  const links = Object.entries(places).map(
    ([name, content]): OddEntry => ({ mode: '160000', name, content }),
  );
  const tree = writeTree(bare, [
    { mode: '100644', name: '.gitmodules', content: modules },
    ...links.sort((a, b) => (a.name < b.name ? -1 : 1)),
    { mode: '100644', name: 'z', content: 'own' },
  ]);
  return commitTree(bare, tree);
}

async function repository(setup: Setup, name: string): Promise<string> {
  await setup.bench.host.createRepository({ owner: 'ada', name, private: true });
  return bareOf(setup, `ada/${name}`);
}

const module = (path: string, url: string) => `[submodule "${path}"]\n\tpath = ${path}\n\turl = ${url}\n`;

test('submodules are streamed in their places, with the parent’s token on the parent’s host', async (t) => {
  const setup = await openMirrors(t);
  const { mirrors, source, bench, folder } = setup;
  const leaf = commitFiles(await repository(setup, 'leaf'), { l: 'leaf' });
  const libBare = await repository(setup, 'lib');
  const lib = commitTree(
    libBare,
    writeTree(libBare, [
      { mode: '100644', name: '.gitmodules', content: module('deep', '../leaf.git') },
      { mode: '160000', name: 'deep', content: leaf },
      { mode: '100644', name: 'f', content: 'lib' },
    ]),
  );
  const modules =
    module('a', '../lib.git') +
    module('b', `${bench.host.url}/ada/leaf.git`) +
    module('c', 'git@127.0.0.1:ada/leaf.git');
  const sha = await parentWith(setup, modules, { a: lib, b: leaf, c: leaf });
  const context = await mirrors.gather(repo, source('ada/parent'), sha, signal);
  assert.deepEqual(context.warnings, []);
  const tar = await unpack(context.tar());
  const files = [...tar]
    .filter(([, { type }]) => type === 'file')
    .map(([name, { content }]) => [name, content.toString()]);
  assert.deepEqual(Object.fromEntries(files.filter(([name]) => !name?.endsWith('.gitmodules'))), {
    'a/deep/l': 'leaf',
    'a/f': 'lib',
    'b/l': 'leaf',
    'c/l': 'leaf',
    z: 'own',
  });
  assert.ok(readdirSync(join(folder, 'mirrors')).every((name) => name.startsWith(repo)));
  assert.equal(await mirrors.removeUnused(new Date(Date.now() + 60_000), new Set([repo])), 0);
});

test('malicious addresses of submodules run nothing, are told, and leave an empty folder', async (t) => {
  const setup = await openMirrors(t);
  const { mirrors, source } = setup;
  const traces = tempFolder(t);
  const urls: Record<string, string> = {
    dash: '-u./payload',
    dashhost: `ssh://-oProxyCommand=touch${'$'}IFS${traces}/proxy/x`,
    etc: 'file:///etc',
    ext: `"ext::sh -c touch% ${traces}/ext"`,
    option: `--upload-pack=touch ${traces}/option`,
    out: '../../../../../../etc/passwd',
    plain: '/etc',
    token: 'https://user:pass@127.0.0.1/x.git',
  };
  const modules = Object.entries(urls).map(
    ([path, url]) => `${module(path, url)}\tupdate = !touch ${traces}/update\n`,
  );
  modules.push(module('none', ''), '[include]\n\tpath = /etc/passwd\n', '[core]\n\tfsmonitor = touch\n');
  const places = Object.fromEntries([...Object.keys(urls), 'nowhere'].map((name) => [name, 'a'.repeat(40)]));
  const sha = await parentWith(setup, modules.join(''), places);
  const context = await mirrors.gather(repo, source('ada/parent'), sha, signal);
  assert.equal(context.warnings.length, Object.keys(places).length);
  const tar = await unpack(context.tar());
  for (const name of Object.keys(places)) assert.equal(tar.get(`${name}/`)?.type, 'directory', name);
  assert.deepEqual(readdirSync(traces), []);
});

test('the token of the parent does not go to other hosts', async (t) => {
  const setup = await openMirrors(t);
  const { mirrors, source } = setup;
  const seen: (string | undefined)[] = [];
  const other = createServer((incoming, response) => {
    seen.push(incoming.headers.authorization);
    response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
  });
  const port = await listen(t, other);
  const sha = await parentWith(setup, module('x', `http://127.0.0.1:${port}/x.git`), {
    x: 'a'.repeat(40),
  });
  const fault = await faultOf(mirrors.gather(repo, source('ada/parent'), sha, signal));
  assert.equal(fault.code, 'repository_not_found');
  assert.ok(seen.length > 0 && seen.every((each) => each === undefined), String(seen));
});

test('submodules of submodules end at the limit, with a warning', async (t) => {
  const setup = await openMirrors(t);
  const bare = await repository(setup, 'parent');
  let sha = commitFiles(bare, { end: 'end' });
  for (let level = 0; level < 8; level += 1)
    sha = commitTree(
      bare,
      writeTree(bare, [
        { mode: '100644', name: '.gitmodules', content: module('d', './') + module('d', '../parent.git') },
        { mode: '160000', name: 'd', content: sha },
      ]),
    );
  const context = await setup.mirrors.gather(repo, setup.source('ada/parent'), sha, signal);
  assert.deepEqual(context.warnings, [
    'The submodule "d/d/d/d/d/d" lies deeper than 5 levels; its folder stays empty.',
  ]);
  const tar = await unpack(context.tar());
  assert.equal(tar.get('d/d/d/d/d/d/')?.type, 'directory');
});

const content = 'the large file';
const oid = createHash('sha256').update(content).digest('hex');
const pointer = (id = oid, size = content.length) =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${id}\nsize ${size}\n`;

interface Asked {
  readonly url: string;
  readonly authorization: string | undefined;
}

/** Answers the batch API, and gives the file from another host. */
function lfsHost(given: string): { readonly asked: Asked[]; readonly fetch: OutboundFetch } {
  const asked: Asked[] = [];
  return {
    asked,
    fetch: async (url, { headers }) => {
      asked.push({ url, authorization: headers?.authorization });
      if (!url.endsWith('/objects/batch')) return new Response(given);
      const objects = [
        {
          oid,
          size: content.length,
          actions: { download: { href: 'https://files.invalid/x', header: { 'X-Key': 'k' } } },
        },
      ];
      return Response.json({ transfer: 'basic', objects });
    },
  };
}

async function withLfs(
  t: TestContext,
  fetch: OutboundFetch,
  text = pointer(),
): Promise<{ setup: Setup; sha: string }> {
  const setup = await openMirrors(t, { fetch });
  const bare = await repository(setup, 'app');
  const sha = commitFiles(bare, {
    '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n',
    'a.bin': text,
    b: 'plain',
  });
  return { setup, sha };
}

test('LFS files are streamed in the place of their pointers, once fetched', async (t) => {
  const lfs = lfsHost(content);
  const { setup, sha } = await withLfs(t, lfs.fetch);
  const { mirrors, source } = setup;
  for (let round = 0; round < 2; round += 1) {
    const context = await mirrors.gather(repo, source('ada/app'), sha, signal);
    const tar = await unpack(context.tar());
    assert.equal(tar.get('a.bin')?.content.toString(), content);
    assert.equal(tar.get('b')?.content.toString(), 'plain');
  }
  assert.equal(lfs.asked.length, 2, 'the second time nothing is asked for');
  assert.equal(lfs.asked[0]?.url, `${source('ada/app').url}/info/lfs/objects/batch`);
  assert.match(lfs.asked[0]?.authorization ?? '', /^Basic /);
  assert.equal(lfs.asked[1]?.authorization, undefined, 'another host gets no token');
});

test('an LFS file with other bytes than its pointer says is not taken', async (t) => {
  for (const wrong of ['another file!!', 'short', `${content} and more`]) {
    await t.test(wrong, async (inner) => {
      const { setup, sha } = await withLfs(inner, lfsHost(wrong).fetch);
      const fault = await faultOf(setup.mirrors.gather(repo, setup.source('ada/app'), sha, signal));
      assert.equal(fault.code, 'git_failed');
      assert.ok(!existsSync(join(setup.folder, 'mirrors', repo, 'lfs', oid)));
    });
  }
});

test('LFS files beyond the limit are refused before anyone is asked, and a pointer alone is just a file', async (t) => {
  const lfs = lfsHost(content);
  const { setup, sha } = await withLfs(t, lfs.fetch, pointer(oid, 9_000_000_000));
  const large = await faultOf(setup.mirrors.gather(repo, setup.source('ada/app'), sha, signal));
  assert.equal(large.code, 'repository_too_large');
  const plain = commitFiles(bareOf(setup, 'ada/app'), { 'a.bin': pointer() });
  const context = await setup.mirrors.gather(repo, setup.source('ada/app'), plain, signal);
  assert.equal((await unpack(context.tar())).get('a.bin')?.content.toString(), pointer());
  assert.deepEqual(lfs.asked, []);
});
