import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkOf, factsWith, sshdView } from '../../../../../test/support/security-facts.ts';

const anywhere = '192.0.2.1';
const views = (...texts: string[]) => factsWith({ sshd: texts.join('\n') });
const statusOf = (id: string, ...texts: string[]) => checkOf(id, views(...texts)).status;

test('a Match block that opens passwords for one user fails, and the evidence names the user', () => {
  const facts = views(
    sshdView('root', anywhere),
    sshdView('deploy', anywhere),
    sshdView('backup', anywhere, { passwordauthentication: 'yes', allowusers: '*' }),
  );
  const check = checkOf('ssh_password_login', facts);
  assert.equal(check.status, 'fail');
  assert.equal(check.evidence, 'passwordauthentication yes (backup)');
});

test('a Match block for our own address is seen beside what the internet gets', () => {
  const open = sshdView('root', '10.0.0.1', { permitrootlogin: 'without-password', allowusers: 'root' });
  const check = checkOf('ssh_root_login', views(sshdView('root', anywhere), open));
  assert.equal(check.status, 'warn');
  assert.match(check.evidence, /root from 10\.0\.0\.1/);
});

test('root with a password fails, with a key only warns, not at all passes', () => {
  const root = (permitrootlogin: string, passwordauthentication: string) =>
    statusOf(
      'ssh_root_login',
      sshdView('root', anywhere, { permitrootlogin, passwordauthentication, allowusers: '' }),
    );
  assert.equal(root('yes', 'yes'), 'fail');
  assert.equal(root('yes', 'no'), 'warn');
  assert.equal(root('without-password', 'yes'), 'warn');
  assert.equal(root('no', 'yes'), 'pass');
});

test('root that AllowUsers leaves out cannot log in, whatever else is set', () => {
  const root = sshdView('root', anywhere, { permitrootlogin: 'yes', passwordauthentication: 'yes' });
  assert.equal(statusOf('ssh_root_login', root, sshdView('deploy', anywhere)), 'pass');
});

test('a password that only counts beside a key is no login by password', () => {
  const both = { passwordauthentication: 'yes', authenticationmethods: 'publickey,password' };
  assert.equal(
    statusOf('ssh_password_login', sshdView('root', anywhere), sshdView('deploy', anywhere, both)),
    'pass',
  );
  const either = { passwordauthentication: 'yes', authenticationmethods: 'publickey password' };
  assert.equal(
    statusOf('ssh_password_login', sshdView('root', anywhere), sshdView('deploy', anywhere, either)),
    'fail',
  );
});

test('passwords by the keyboard-interactive way are passwords', () => {
  const kbd = sshdView('deploy', anywhere, { kbdinteractiveauthentication: 'yes' });
  assert.equal(statusOf('ssh_keyboard_interactive', sshdView('root', anywhere), kbd), 'fail');
  assert.equal(statusOf('ssh_password_login', sshdView('root', anywhere), kbd), 'pass');
});

test('the worst of all users decides about tries, grace and forwarding', () => {
  const worse = sshdView('deploy', anywhere, {
    maxauthtries: '10',
    logingracetime: '0',
    x11forwarding: 'yes',
    allowtcpforwarding: 'local',
  });
  const root = sshdView('root', anywhere);
  assert.equal(statusOf('ssh_max_auth_tries', root, worse), 'fail');
  assert.equal(statusOf('ssh_login_grace', root, worse), 'fail');
  assert.equal(statusOf('ssh_x11_forwarding', root, worse), 'warn');
  assert.equal(statusOf('ssh_forwarding', root, worse), 'warn');
});

test('settings that sshd cannot read itself are unknown, with its own words', () => {
  const words = '/etc/ssh/sshd_config.d/05-x.conf line 1: Bad configuration option: Foo';
  const check = checkOf('ssh_password_login', factsWith({ sshd: { code: '255', text: words } }));
  assert.equal(check.status, 'unknown');
  assert.match(check.evidence, /Bad configuration option: Foo/);
});

test('broken algorithms fail, doubtful ones warn, and a key that is not loaded does not count', () => {
  const kex = (kexalgorithms: string) =>
    statusOf('ssh_key_exchange', sshdView('root', anywhere, { kexalgorithms }));
  assert.equal(kex('curve25519-sha256,diffie-hellman-group14-sha1'), 'fail');
  assert.equal(kex('curve25519-sha256,ecdh-sha2-nistp256'), 'warn');
  assert.equal(kex('sntrup761x25519-sha512,diffie-hellman-group16-sha512'), 'pass');
  assert.equal(
    statusOf('ssh_ciphers', sshdView('root', anywhere, { ciphers: 'aes128-ctr,aes128-cbc' })),
    'fail',
  );
  const macs = (list: string) => statusOf('ssh_macs', sshdView('root', anywhere, { macs: list }));
  assert.deepEqual(['hmac-sha1', 'hmac-sha2-256', 'hmac-sha2-256-etm@openssh.com'].map(macs), [
    'fail',
    'warn',
    'pass',
  ]);
  const keys = (host_keys: string) => checkOf('ssh_host_keys', factsWith({ host_keys })).status;
  const ed25519 = '/etc/ssh/ssh_host_ed25519_key 256 SHA256:x f13 (ED25519)';
  assert.equal(keys(`/etc/ssh/ssh_host_ecdsa_key 256 SHA256:x f13 (ECDSA)\n${ed25519}`), 'warn');
  assert.equal(keys(`/etc/ssh/ssh_host_rsa_key 1024 SHA256:x f13 (RSA)\n${ed25519}`), 'fail');
  assert.equal(keys(ed25519), 'pass');
});

test('a file that was changed after sshd read it, or a port it does not listen on, is told', () => {
  const applied = (changes: Record<string, string>) => checkOf('ssh_config_applied', factsWith(changes));
  const late = applied({
    sshd_running:
      'ActiveState=active\nStateChangeTimestamp=@1794720392\nNewestFile=1794720399.5 /etc/ssh/sshd_config.d/05-a.conf',
  });
  assert.equal(late.status, 'warn');
  assert.match(late.evidence, /05-a\.conf was changed after/);
  const moved = applied({ sshd: sshdView('root', anywhere, { port: '2222' }) });
  assert.equal(moved.status, 'warn');
  assert.match(moved.evidence, /port 2222 is set, but sshd does not listen there/);
});
