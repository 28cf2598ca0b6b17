import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fault } from '../../fault.ts';
import { isSameOrigin, parseGitUrl, resolveGitUrl } from './git-url.ts';

test('addresses in the usual forms are understood', () => {
  assert.deepEqual(parseGitUrl('https://Git.Example.com/ada/app.git'), {
    scheme: 'https',
    host: 'git.example.com',
    port: 443,
    user: undefined,
    path: '/ada/app.git',
    text: 'https://git.example.com/ada/app.git',
  });
  assert.equal(parseGitUrl('https://[::1]:8443/a').host, '::1');
  assert.equal(
    parseGitUrl('https://2130706433/a').host,
    '127.0.0.1',
    'a decimal address is shown as what it is',
  );
  const short = parseGitUrl('git@git.example.com:ada/app.git');
  assert.deepEqual(
    [short.scheme, short.host, short.port, short.user, short.path],
    ['ssh', 'git.example.com', 22, 'git', 'ada/app.git'],
  );
  assert.equal(parseGitUrl('ssh://forge@host.example:2222/a/b').text, 'ssh://forge@host.example:2222/a/b');
  assert.equal(parseGitUrl('ssh://host.example/a/b').user, 'git');
  assert.equal(parseGitUrl('http://host/a', { allowHttp: true }).port, 80);
});

test('whatever is not such an address is refused', () => {
  const bad = [
    '',
    'x',
    '-x',
    '--upload-pack=x',
    'ext::sh -c id',
    'file:///etc',
    '/etc/x',
    './x',
    'git://host/x',
    'ftp://host/x',
    'http://host/x',
    'https://',
    'https://host',
    'https://host/',
    'https://u@host/x',
    'https://u:p@host/x',
    'https://host/x?y',
    'https://host/x#y',
    'https://host/-x',
    'https://host/a/-x',
    'https://ho\nst/x',
    'https://host/x\ny',
    'https://host/a b',
    'https://host/$(id)',
    "https://host/a'b",
    'https://host/a;b',
    'ssh://-oProxyCommand=x/y',
    'ssh://a@-oProxyCommand=x/y',
    '-oProxyCommand=x@host:y',
    'git@-oProxy:x',
    'git@host:-x',
    "git@host:a'b",
    'git@host:a b',
    'git@host:../x',
    'ssh://u:p@host/x',
    'git@host:',
    'ssh://git@ho$st/x',
    `https://host/${'x'.repeat(3000)}`,
    'https::ext::x',
    'ext::git@host:x',
    'git@host:a\\b',
  ];
  for (const text of bad) assert.throws(() => parseGitUrl(text), Fault, text);
});

test('relative addresses of submodules stay on their host', () => {
  const parent = parseGitUrl('https://host.example:8443/group/app.git');
  assert.equal(resolveGitUrl(parent, '../lib.git', {}).text, 'https://host.example:8443/group/lib.git');
  assert.equal(resolveGitUrl(parent, '../../other/lib', {}).text, 'https://host.example:8443/other/lib');
  assert.equal(resolveGitUrl(parent, './sub', {}).text, 'https://host.example:8443/group/app.git/sub');
  assert.throws(() => resolveGitUrl(parent, '../../../x', {}), Fault);
  const short = parseGitUrl('git@host.example:group/app.git');
  assert.equal(resolveGitUrl(short, '../lib.git', {}).text, 'git@host.example:group/lib.git');
  assert.throws(() => resolveGitUrl(short, '../../../x', {}), Fault);
  assert.throws(() => resolveGitUrl(short, 'ext::x', {}), Fault);
});

test('an origin is transport, host and port', () => {
  const one = parseGitUrl('https://host.example/a');
  assert.ok(isSameOrigin(one, parseGitUrl('https://HOST.example:443/b')));
  for (const other of ['https://host.example:444/a', 'https://host.example.org/a', 'git@host.example:a'])
    assert.ok(!isSameOrigin(one, parseGitUrl(other)), other);
});
