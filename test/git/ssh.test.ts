import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import ssh2 from 'ssh2';
import { afterwards, tempFolder } from '../../lab/services/git/test-bench.ts';
import { generateKeyPair } from '../../src/remote/keys/keys.ts';
import { fingerprintOf } from '../../src/remote/ssh/host-keys.ts';
import type { Secret } from '../../src/secret.ts';
import {
  commitFiles,
  faultOf,
  filesWith,
  git,
  key,
  mirrorsIn,
  processesShowing,
  signal,
  unpack,
} from './support.ts';

const repo = key('ssh');

interface SshHost {
  readonly port: number;
  readonly fingerprint: string;
  readonly commands: string[];
  /** How often somebody tried to log in with a key. */
  attempts(): number;
  close(): Promise<void>;
}

/** An ssh server that runs `git-upload-pack` on one folder for one key, as Git hosts do. */
async function startSshHost(
  t: TestContext,
  dir: string,
  publicKey: string,
  options: { port?: number; old?: boolean } = {},
): Promise<SshHost> {
  const hostKey = generateKeyPair('host');
  const allowed = ssh2.utils.parseKey(publicKey);
  const parsed = ssh2.utils.parseKey(hostKey.publicKey);
  assert.ok(!(allowed instanceof Error) && !(parsed instanceof Error));
  const commands: string[] = [];
  let attempts = 0;
  const server = new ssh2.Server({ hostKeys: [hostKey.privateKey.reveal()] }, (client) => {
    client.on('error', () => undefined);
    client.on('authentication', (attempt) => {
      if (attempt.method !== 'publickey') return void attempt.reject(['publickey']);
      attempts += 1;
      const { key: shown, signature, blob = Buffer.alloc(0), hashAlgo } = attempt;
      const isKnown = shown.data.equals(allowed.getPublicSSH());
      if (isKnown && (!signature || allowed.verify(blob, signature, hashAlgo) === true)) attempt.accept();
      else attempt.reject(['publickey']);
    });
    client.on('session', (accept) => {
      accept().on('exec', (acceptExec, _reject, info) => {
        commands.push(info.command);
        const channel = acceptExec();
        const path = /^git-upload-pack '([^']+)'$/.exec(info.command)?.[1];
        if (path !== '/ada/app.git') {
          channel.stderr.write('ERROR: Repository not found.\n');
          channel.exit(1);
          channel.end();
          return;
        }
        const strict = options.old
          ? ['-c', 'uploadpack.allowAnySHA1InWant=false']
          : ['-c', 'uploadpack.allowAnySHA1InWant=true'];
        const child = spawn('git', [...strict, 'upload-pack', dir], {
          env: { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: '1', HOME: '/nonexistent' },
        });
        child.stdin.on('error', () => undefined);
        channel.pipe(child.stdin);
        child.stdout.pipe(channel, { end: false });
        child.stderr.pipe(channel.stderr, { end: false });
        child.once('close', (code) => {
          channel.exit(code ?? 1);
          channel.end();
        });
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', () => resolve()));
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
  afterwards(t, close);
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  return {
    attempts: () => attempts,
    close,
    port: address.port,
    fingerprint: fingerprintOf(parsed.getPublicSSH()),
    commands,
  };
}

interface Opened {
  readonly dir: string;
  readonly folder: string;
  readonly host: SshHost;
  readonly url: string;
  readonly credentials: { privateKey: Secret };
}

async function open(t: TestContext, options: { old?: boolean } = {}): Promise<Opened> {
  const dir = `${tempFolder(t)}/app.git`;
  git(dir, ['init', '--quiet', '--bare', '-b', 'main', dir]);
  const { privateKey, publicKey } = generateKeyPair('deploy');
  const host = await startSshHost(t, dir, publicKey, options);
  const url = `ssh://git@127.0.0.1:${host.port}/ada/app.git`;
  return { dir, folder: tempFolder(t), host, url, credentials: { privateKey } };
}

test('a repository is fetched over ssh with a deploy key that is in no file and no process', async (t) => {
  const { dir, folder, host, url, credentials } = await open(t);
  const big = Buffer.alloc(3_000_000, 'abc');
  const first = commitFiles(dir, { a: 'over ssh', big });
  const mirrors = mirrorsIn(folder);
  const shown: string[] = [];
  const body = credentials.privateKey.reveal().split('\n')[2] ?? '';
  assert.ok(body.length > 30);
  const onProgress = () => void shown.push(...processesShowing(body));
  const fetched = await mirrors.fetch(repo, { url, credentials }, { want: 'default', signal, onProgress });
  assert.deepEqual([fetched.commit.sha, fetched.branch], [first, 'main']);
  assert.ok((await unpack(mirrors.open(repo).tar(first))).get('big')?.content.equals(big));
  const second = commitFiles(dir, { a: 'again', big });
  assert.equal(
    (await mirrors.fetch(repo, { url, credentials }, { want: { branch: 'main' }, signal })).commit.sha,
    second,
  );
  assert.deepEqual(new Set(host.commands), new Set(["git-upload-pack '/ada/app.git'"]));
  assert.deepEqual(shown, []);
  assert.deepEqual(filesWith(folder, body), []);
});

test('a commit in the history is found also where the host gives only branches', async (t) => {
  const { dir, folder, url, credentials } = await open(t, { old: true });
  const old = git(dir, ['commit-tree', git(dir, ['mktree'], ''), '-m', 'old']);
  const tip = git(dir, ['commit-tree', git(dir, ['mktree'], ''), '-p', old, '-m', 'new']);
  git(dir, ['update-ref', 'refs/heads/main', tip]);
  const mirrors = mirrorsIn(folder);
  await mirrors.fetch(repo, { url, credentials }, { want: 'default', signal });
  const { commit } = await mirrors.fetch(repo, { url, credentials }, { want: { sha: old }, signal });
  assert.equal(commit.message, 'old\n');
  const unknown = await faultOf(
    mirrors.fetch(repo, { url, credentials }, { want: { sha: 'a'.repeat(40) }, signal }),
  );
  assert.equal(unknown.code, 'commit_not_found');
});

test('whoever makes up branches without number cannot fill the disk with them', async (t) => {
  const { dir, folder, url, credentials } = await open(t, { old: true });
  const old = git(dir, ['commit-tree', git(dir, ['mktree'], ''), '-m', 'old']);
  const tip = git(dir, ['commit-tree', git(dir, ['mktree'], ''), '-p', old, '-m', 'new']);
  const many = Array.from({ length: 400 }, (_, at) => `create refs/heads/b${at} ${tip}`);
  git(dir, ['update-ref', '--stdin'], `create refs/heads/main ${tip}\n${many.join('\n')}\n`);
  // The limit is git's own; what carries it over SSH needs more.
  const mirrors = mirrorsIn(folder, { limits: { memoryBytes: 256 * 2 ** 20 } });
  await mirrors.fetch(repo, { url, credentials }, { want: { sha: old }, signal });
  const files = readdirSync(join(folder, 'mirrors'), { recursive: true, withFileTypes: true });
  const count = files.filter((each) => each.isFile()).length;
  assert.ok(count < 50, `${count} files`);
  const more = Array.from({ length: 20_000 }, (_, at) => `create refs/tags/t${at} ${tip}`);
  git(dir, ['update-ref', '--stdin'], `${more.join('\n')}\n`);
  const fault = await faultOf(
    mirrors.fetch(key('other'), { url, credentials }, { want: { sha: old }, signal }),
  );
  assert.equal(fault.code, 'repository_too_large');
});

test('the key of the host is pinned with the first contact, and another one is refused before the key is used', async (t) => {
  const { dir, folder, host, url, credentials } = await open(t);
  commitFiles(dir, { a: '1' });
  const mirrors = mirrorsIn(folder);
  await mirrors.fetch(repo, { url, credentials }, { want: 'default', signal });
  await host.close();
  const another = generateKeyPair('another');
  const impostor = await startSshHost(t, dir, another.publicKey, { port: host.port });
  const fault = await faultOf(mirrors.fetch(repo, { url, credentials }, { want: 'default', signal }));
  assert.equal(fault.code, 'host_key_changed');
  assert.equal(impostor.attempts(), 0);
  mirrors.forgetHostKey('127.0.0.1', host.port);
  const refused = await faultOf(mirrors.fetch(repo, { url, credentials }, { want: 'default', signal }));
  assert.equal(refused.code, 'provider_rejected');
  assert.match(refused.message, /deploy key/);
});

test('a missing repository, a missing key and a closed port have words of their own', async (t) => {
  const { folder, host, url, credentials } = await open(t);
  const mirrors = mirrorsIn(folder);
  const missing = { url: url.replace('app', 'none'), credentials };
  assert.equal(
    (await faultOf(mirrors.fetch(repo, missing, { want: 'default', signal }))).code,
    'repository_not_found',
  );
  assert.equal(
    (await faultOf(mirrors.fetch(repo, { url }, { want: 'default', signal }))).code,
    'invalid_input',
  );
  await host.close();
  assert.equal(
    (await faultOf(mirrors.fetch(repo, { url, credentials }, { want: 'default', signal }))).code,
    'provider_unreachable',
  );
});
