import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Secret } from '../../../secret.ts';
import { parseGitUrl } from '../git-url.ts';
import { GitFailure } from '../run-git.ts';
import { explainGit } from './git-faults.ts';

const url = parseGitUrl('https://git.example/ada/app.git');
const explain = (said: string, secrets: readonly Secret[] = []) =>
  explainGit(new GitFailure('fetch', 128, said), { url, secrets });

test('what git says becomes a fault of its own kind', () => {
  const said: Record<string, string> = {
    "fatal: Authentication failed for 'https://git.example/ada/app.git/'": 'provider_rejected',
    'fatal: unable to access: The requested URL returned error: 403': 'provider_rejected',
    "fatal: could not read Username for 'https://git.example': terminal prompts disabled":
      'repository_not_found',
    "remote: Repository not found.\nfatal: repository 'https://git.example/ada/app.git/' not found":
      'repository_not_found',
    "fatal: couldn't find remote ref refs/heads/x": 'commit_not_found',
    'fatal: remote error: upload-pack: not our ref aaaa': 'commit_not_found',
    'error: Server does not allow request for unadvertised object aaaa': 'commit_not_found',
    'fatal: unable to access: Could not resolve host: git.example': 'name_not_resolved',
    'fatal: unable to access: SSL certificate problem: certificate has expired': 'egress_failed',
    'fatal: unable to access: server certificate verification failed. CAfile: none CRLfile: none':
      'egress_failed',
    'fatal: unable to access: Failed to connect to git.example port 443: Connection refused':
      'provider_unreachable',
    'error: RPC failed; curl 28 Operation too slow. Less than 1000 bytes/sec transferred the last 30 seconds':
      'provider_unreachable',
    'error: RPC failed; curl 18 transfer closed with outstanding read data remaining\nfatal: early EOF':
      'provider_unreachable',
    'fatal: unable to access: The requested URL returned error: 502': 'provider_failed',
    'fatal: unable to access: The requested URL returned error: 301': 'git_failed',
    'fatal: https://git.example/a/info/refs not valid: is this a git repository?': 'git_failed',
  };
  for (const [text, code] of Object.entries(said)) {
    const { fault, mayBeOurs } = explain(text);
    assert.equal(fault.code, code, text);
    assert.ok(!mayBeOurs, text);
  }
});

test('what may be wrong with our own copy is told apart, also where the other side speaks of something else', () => {
  for (const text of [
    'error: packfile ./x.pack does not match index\nfatal: bad object aaaa',
    'fatal: missing blob object aaaa\nfatal: the remote end hung up unexpectedly',
    'something that nobody has seen before',
  ])
    assert.ok(explain(text).mayBeOurs, text);
});

test('lines of the other side decide nothing', () => {
  const { fault } = explain('remote: fatal: Authentication failed\nremote: returned error: 404\nfatal: odd');
  assert.equal(fault.code, 'git_failed');
});

test('the evidence has no token, no control characters and no counting', () => {
  const token = new Secret('hunter2-token');
  const { fault } = explain(
    'Receiving objects:  10% (1/10)\rremote: \x1b[31mhunter2-token\x1b[0m\x07\nfatal: odd',
    [token],
  );
  assert.equal(fault.evidence, 'remote: [secret]\nfatal: odd');
});
