import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import https from 'node:https';
import { test } from 'node:test';
import { promisify } from 'node:util';
import {
  installCertificate,
  readCertificates,
  removeCertificate,
} from '../../src/adapters/proxy/certificates.ts';
import { setChallengeThumbprint } from '../../src/adapters/proxy/challenge.ts';
import {
  admit,
  removeFront,
  restoreFront,
  stopFront,
  switchTo,
} from '../../src/adapters/proxy/front-changes.ts';
import type { ProxyRoute } from '../../src/adapters/proxy/fronts.ts';
import { readFronts } from '../../src/adapters/proxy/read-fronts.ts';
import { newId } from '../../src/ids.ts';
import { Secret } from '../../src/secret.ts';
import { faultOf } from '../support/faults.ts';
import { openLab } from '../support/lab.ts';
import { openSocket, ProxyGround, seenBy, visit } from '../support/proxy.ts';
import { shownFor, TestAuthority, type TlsPlace, TlsVisitors, visitTls } from '../support/proxy-tls.ts';
import { hangMs, until } from '../support/until.ts';

const lab = await openLab();
const run = promisify(execFile);

const route = (host: string, changes: Partial<ProxyRoute> = {}): ProxyRoute => ({
  host,
  tls: true,
  redirectHttp: true,
  hstsSeconds: null,
  redirectTo: null,
  ...changes,
});

/** An application that serves these names. */
async function serving(ground: ProxyGround, routes: readonly ProxyRoute[]) {
  const server = await ground.startApp();
  const front = { ...ground.front({ routes }), servers: [server] };
  await admit(ground.work, { ...front, servers: [] }, [server]);
  await ground.answersThrough(front, server);
  await switchTo(ground.work, front);
  return { front, server };
}

test('names, redirects, HSTS and the answers to the authority are data that change without a reload', async (t) => {
  const ground = await ProxyGround.open(t, await lab.fresh(t, 'provisioned'));
  const authority = await TestAuthority.open(t);
  const { work, address } = ground;
  const routes = [
    route('example.com', { hstsSeconds: 63_072_000 }),
    route('www.example.com', { redirectTo: 'example.com' }),
    route('*.example.com', { redirectHttp: false }),
    route('bare.test', { tls: false, hstsSeconds: 5 }),
  ];
  const { front, server } = await serving(ground, routes);
  // Its listener is new, which needs the one reload.
  const other = ground.front();
  await stopFront(work, other);
  const processes = await ground.sh('docker top slipway-proxy -eo pid');
  const made = await authority.make(['example.com', '*.example.com']);
  const wish = { id: newId(), names: ['example.com', '*.example.com'], bundle: made.bundle };
  await installCertificate(work, wish);
  const plain = (host: string, path = '/', headers = {}) =>
    visit(`http://${address}${path}`, { headers: { host, ...headers } });
  const secure = (host: string, path = '/', options: https.RequestOptions = {}) =>
    visitTls({ address, host, ca: authority.certificate }, path, options);
  const sent = async (answer: ReturnType<typeof visit>) => {
    const { status, headers } = await answer;
    return [status, headers.location];
  };

  // By another program: chain and name are what curl accepts, and it speaks HTTP/2.
  const resolve = (host: string) => ['--resolve', `${host}:443:${address}`, `https://${host}/`];
  const curl = ['-sS', '--cacert', authority.file, '-o', '/dev/null', '-w', '%{http_version} %{http_code}'];
  for (const host of ['example.com', 'any.example.com'])
    assert.equal((await run('curl', [...curl, ...resolve(host)])).stdout, '2 200', host);
  await assert.rejects(run('curl', [...curl, ...resolve('a.b.example.com')]), { code: 60 });

  for (const host of ['example.com', 'EXAMPLE.com:80', 'example.com.'])
    assert.deepEqual(await sent(plain(host, '/a?b=c')), [308, 'https://example.com/a?b=c'], host);
  for (const scheme of [plain, secure])
    assert.deepEqual(await sent(scheme('www.example.com', '/a?b=c')), [308, 'https://example.com/a?b=c']);
  assert.equal(seenBy(await plain('any.example.com')).name, server.name);
  assert.equal((await plain('a.b.example.com')).status, 404);
  const bare = await plain('bare.test');
  assert.deepEqual([bare.status, bare.headers['strict-transport-security']], [200, undefined]);

  // What the application is told is ours to say.
  const lies = {
    'x-forwarded-proto': 'http',
    'x-forwarded-for': '203.0.113.9',
    'x-forwarded-port': '1',
    'x-forwarded-host': 'bank.test',
    forwarded: 'for=203.0.113.9',
  };
  const told = await secure('example.com', '/', { headers: lies });
  assert.equal(told.headers['strict-transport-security'], 'max-age=63072000');
  const arrived = Object.entries(seenBy(told).headers).filter(([key]) => key.includes('forwarded'));
  assert.deepEqual(Object.fromEntries(arrived), {
    'x-forwarded-for': lab.about.address,
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'example.com',
    'x-forwarded-port': '443',
  });

  // What stays open: a WebSocket, and an answer whose first words arrive long before its end.
  const place = { servername: 'example.com', ca: authority.certificate, headers: { host: 'example.com' } };
  const socket = await openSocket(`https://${address}/`, place);
  assert.equal(await socket.echoes(), true);
  socket.close();
  const first = await new Promise<string>((resolve, reject) => {
    const request = https.get(`https://${address}/events`, { ...place, agent: false, timeout: hangMs });
    request.on('response', (response) => response.once('data', (data) => resolve(String(data))));
    request.on('response', () => request.once('close', () => reject(new Error('closed'))));
    request.on('timeout', () => request.destroy(new Error('nothing arrived')));
    request.on('error', reject);
    t.after(() => request.destroy());
  });
  assert.equal(first, 'data: first\n\n');

  // The authority's question: for every name, never redirected, and for nothing but a token.
  const [token, thumbprint] = ['a-Token_1', 'T'.repeat(43)];
  const path = `/.well-known/acme-challenge/${token}`;
  assert.deepEqual(await sent(plain('example.com', path)), [308, `https://example.com${path}`]);
  await setChallengeThumbprint(work, 'S'.repeat(43));
  await setChallengeThumbprint(work, thumbprint);
  for (const host of ['example.com', 'www.example.com', 'nobody.test']) {
    const answer = await plain(host, path);
    assert.deepEqual([answer.status, answer.text], [200, `${token}.${thumbprint}`], host);
    assert.equal(answer.headers['content-type'], 'text/plain');
  }
  for (const wrong of ['', 'a/b', 'a%0d%0ab', 'a.b', '<script>'])
    assert.equal((await plain('nobody.test', `/.well-known/acme-challenge/${wrong}`)).status, 404, wrong);
  assert.equal((await faultOf(() => setChallengeThumbprint(work, 'x\ny'))).code, 'invalid_input');

  // Other rules, other names: at once.
  const changed = [
    route('example.com', { redirectHttp: false, hstsSeconds: 0 }),
    route('new.test', { tls: false }),
  ];
  await restoreFront(work, { ...front, hosts: [], servers: [server], routes: changed });
  assert.equal(seenBy(await plain('example.com')).name, server.name);
  assert.equal((await secure('example.com')).headers['strict-transport-security'], 'max-age=0');
  assert.equal((await plain('new.test')).status, 200);
  for (const host of ['www.example.com', 'any.example.com', 'bare.test'])
    assert.equal((await plain(host)).status, 404, host);
  const seen = (await readFronts(work)).fronts.find(({ id }) => id === front.id);
  assert.equal(seen?.agrees, true);
  assert.deepEqual(seen?.running?.routes, changed);
  // A second front takes a name; one that is stopped says so.
  await stopFront(work, { ...other, routes: [route('new.test', { tls: false, redirectHttp: false })] });
  const absent = await plain('new.test');
  assert.deepEqual([absent.status, absent.headers['retry-after']], [503, '5']);
  assert.deepEqual((await readFronts(work)).fronts.find(({ id }) => id === front.id)?.running?.hosts, [
    'example.com',
  ]);
  assert.equal(await ground.sh('docker top slipway-proxy -eo pid'), processes);
  await removeFront(work, other.id);
  assert.equal((await plain('new.test')).status, 404);
});

test('a certificate is replaced under load, and gives a name to another, with a reload in between, and nobody fails', async (t) => {
  const ground = await ProxyGround.open(t, await lab.fresh(t, 'provisioned'));
  const authority = await TestAuthority.open(t);
  const { work, address } = ground;
  const names = ['app.test', 'more.test'];
  await serving(
    ground,
    names.map((host) => route(host)),
  );
  const id = newId();
  const [first, second] = [await authority.make(names), await authority.make(names, { kind: 'rsa' })];
  await installCertificate(work, { id, names, bundle: first.bundle });
  const place: TlsPlace = { address, host: 'app.test', ca: authority.certificate };
  const visitors = new TlsVisitors(t, place);
  const more = async (count: number) => {
    const from = visitors.answered;
    while (visitors.answered < from + count && visitors.failures.length === 0) await visitTls(place);
  };
  await more(200);
  for (const { bundle, fingerprint } of [second, first, second]) {
    await installCertificate(work, { id, names, bundle });
    for (const name of names) assert.equal(await shownFor(address, name), fingerprint);
    await more(50);
  }
  // Another certificate takes one name, and gives it back; a listener comes: a reload in between.
  const third = await authority.make(['app.test']);
  const beside = newId();
  await installCertificate(work, { id: beside, names: ['app.test'], bundle: third.bundle });
  assert.equal(await shownFor(address, 'app.test'), third.fingerprint);
  assert.equal(await shownFor(address, 'more.test'), second.fingerprint);
  await more(50);
  await admit(work, ground.front(), []);
  await more(50);
  await installCertificate(work, { id, names, bundle: first.bundle });
  await removeCertificate(work, beside);
  await removeCertificate(work, beside);
  await more(200);
  await visitors.end();
  assert.deepEqual(visitors.failures, []);
  assert.deepEqual(visitors.shown, new Set([first, second, third].map(({ fingerprint }) => fingerprint)));
  t.diagnostic(`${visitors.answered} requests answered, none failed`);
});

test('a broken bundle, or one that is not shown, leaves the old one; restart, reload and a killed run leave a whole one', async (t) => {
  const ground = await ProxyGround.open(t, await lab.fresh(t, 'provisioned'));
  const authority = await TestAuthority.open(t);
  const { work, address } = ground;
  const names = ['app.test', 'more.test'];
  const { server } = await serving(
    ground,
    names.map((host) => route(host)),
  );
  const id = newId();
  const [first, second] = [await authority.make(names), await authority.make(names, { kind: 'rsa' })];
  await installCertificate(work, { id, names, bundle: first.bundle });
  const place: TlsPlace = { address, host: 'app.test', ca: authority.certificate };
  const good = async (of = first) => {
    assert.deepEqual(
      (await readCertificates(work)).map(({ notAfter, ...rest }) => [
        rest,
        (notAfter?.getTime() ?? 0) > Date.now(),
      ]),
      [[{ id, names, fingerprint: of.fingerprint, agrees: true }, true]],
    );
    assert.equal(seenBy(await visitTls(place)).name, server.name);
  };
  await good();
  await ground.sh('docker restart slipway-proxy > /dev/null');
  while (!(await readFronts(work)).isRunning);
  await good();
  const modes = 'cd /var/lib/slipway/proxy/certificates; stat -c "%a %U %n" . *';
  const expected = ['700 root .', `600 root ${id}.pem`, '600 root default.pem', ''].join('\n');
  assert.equal(await ground.sh(modes), expected);

  // Refused before anything is touched.
  const stranger = await authority.make(['other.test']);
  const [leaf = '', between = ''] = first.certificate.split(/(?<=-----END CERTIFICATE-----\n)/);
  const broken: [string, string[]][] = [
    ['', names],
    [first.certificate, names],
    [first.certificate + second.key, names],
    [stranger.certificate + stranger.key, names],
    [between + leaf + first.key, names],
    [`${leaf.slice(0, 200)}${between}${first.key}`, names],
    [first.certificate + first.key.slice(0, 60), names],
    [first.certificate + first.key, [...names, 'third.test']],
    [first.certificate + first.key, []],
  ];
  for (const [text, wanted] of broken) {
    const fault = await faultOf(() =>
      installCertificate(work, { id, names: wanted, bundle: new Secret(text) }),
    );
    assert.equal(fault.code, 'certificate_invalid');
    assert.doesNotMatch(`${fault.message}${fault.evidence}`, /PRIVATE/);
  }
  // One that Node reads but the proxy does not take: it is refused there, and the old one is shown.
  for (const [key, hint] of [
    ['rsa:1024', /2048/],
    ['ec', /refused/],
  ] as const) {
    const weak = await run('openssl', [
      ...['req', '-x509', '-newkey', key, ...(key === 'ec' ? ['-pkeyopt', 'ec_paramgen_curve:P-192'] : [])],
      ...['-nodes', '-subj', '/CN=app.test', '-days', '2', '-addext', 'subjectAltName=DNS:app.test'],
      ...['-keyout', '-', '-out', '-'],
    ]);
    for (const at of [id, newId()]) {
      const weakWish = { id: at, names: ['app.test'], bundle: new Secret(weak.stdout) };
      const fault = await faultOf(() => installCertificate(work, weakWish));
      assert.deepEqual([fault.code, hint.test(fault.message)], ['certificate_invalid', true], fault.message);
    }
  }
  await good();

  // One that no handshake shows: what was shown before is put back, and nothing of a new one is left.
  await ground.sh('chmod -x /usr/bin/openssl');
  for (const at of [id, newId()]) {
    const fault = await faultOf(() => installCertificate(work, { id: at, names, bundle: second.bundle }));
    assert.deepEqual([fault.code, /in force again/.test(fault.message)], ['proxy_failed', true]);
  }
  await ground.sh('chmod +x /usr/bin/openssl');
  await good();
  assert.equal(await ground.sh(modes), expected);
  assert.doesNotMatch(await ground.sh('docker logs slipway-proxy 2>&1'), /PRIVATE/);

  // Killed in the middle: a transaction that nobody ended, and a file that the running proxy has not seen.
  const at = '/etc/slipway/certificates';
  await work.remote.script(
    `cd /var/lib/slipway/proxy; cat > certificates/${id}.pem
    perl -e 'use Socket; socket my $s, PF_UNIX, SOCK_STREAM, 0; connect $s, pack_sockaddr_un(q{run/admin.sock}) or die $!;
      local $/; open my $f, q{<}, q{certificates/${id}.pem}; print $s qq{set ssl cert ${at}/default.pem <<\\n}, <$f>, qq{\\n\\n}; $s->flush; shutdown $s, 1; print <$s>'`,
    [],
    { input: second.bundle.reveal() },
  );
  assert.deepEqual(
    (await readCertificates(work)).map(({ agrees, fingerprint }) => [agrees, fingerprint]),
    [[false, null]],
  );
  await installCertificate(work, { id, names, bundle: second.bundle });
  await good(second);
  // Larger than the runtime socket takes.
  const many = [...names, ...Array.from({ length: 600 }, (_, index) => `name-${index}.of.app.test`)];
  const large = await authority.make(many);
  await installCertificate(work, { id, names, bundle: large.bundle });
  await good(large);
  await installCertificate(work, { id, names, bundle: first.bundle });
  await good();
  await removeCertificate(work, id);
  assert.deepEqual(await readCertificates(work), []);
  assert.equal(await shownFor(address, 'app.test'), await shownFor(address, 'nobody.test'));
});

/** Stands before the proxy's own socket, and is gone where a certificate is handed over: as a proxy that ends at that moment. */
const leaving = `use Socket; chdir q{/var/lib/slipway/proxy/run}; rename q{master.sock}, q{real.sock} or die $!;
socket my $s, PF_UNIX, SOCK_STREAM, 0; bind $s, pack_sockaddr_un(q{master.sock}) or die $!; listen $s, 50;
while (accept my $c, $s) { my $asked = do { local $/; <$c> };
  if ($asked !~ /set ssl cert/) { socket my $r, PF_UNIX, SOCK_STREAM, 0; connect $r, pack_sockaddr_un(q{real.sock}) or die $!;
    syswrite $r, $asked; shutdown $r, 1; local $/; syswrite $c, <$r> }
  close $c }`;

test('a proxy that ends while it is given a certificate has not refused it', async (t) => {
  const ground = await ProxyGround.open(t, await lab.fresh(t, 'provisioned'));
  const { work } = ground;
  const names = ['app.test'];
  const { bundle } = await (await TestAuthority.open(t)).make(names);
  const id = newId();
  await work.remote.output(['systemd-run', '--quiet', '--unit=leaving', 'perl', '-e', leaving]);
  await until(async () => (await ground.sh('ls /var/lib/slipway/proxy/run')).includes('real.sock'));
  const fault = await faultOf(() => installCertificate(work, { id, names, bundle }));
  assert.deepEqual([fault.code, fault.evidence], ['proxy_down', 'no answer']);
  await ground.sh('systemctl stop leaving; cd /var/lib/slipway/proxy/run; mv real.sock master.sock');
  assert.deepEqual(await readCertificates(work), []);
  await installCertificate(work, { id, names, bundle });
  assert.deepEqual(
    (await readCertificates(work)).map(({ agrees }) => agrees),
    [true],
  );
});

test('old protocols and weak ciphers are refused, and a name without a certificate gets a plain page under the default one', async (t) => {
  const ground = await ProxyGround.open(t, await lab.fresh(t, 'bookworm'));
  const authority = await TestAuthority.open(t);
  const { work, address } = ground;
  const { server } = await serving(ground, [route('app.test'), route('rsa.test')]);
  const [ec, rsa] = [await authority.make(['app.test']), await authority.make(['rsa.test'], { kind: 'rsa' })];
  await installCertificate(work, { id: newId(), names: ['app.test'], bundle: ec.bundle });
  await installCertificate(work, { id: newId(), names: ['rsa.test'], bundle: rsa.bundle });
  for (const host of ['app.test', 'rsa.test'])
    assert.equal(seenBy(await visitTls({ address, host, ca: authority.certificate })).name, server.name);

  const client = async (host: string, ...options: string[]) => {
    const args = ['s_client', '-connect', `${address}:443`, '-servername', host, '-CAfile', authority.file];
    const said = run('openssl', [...args, ...options], { timeout: hangMs });
    said.child.stdin?.end();
    return said.then(
      ({ stdout }) => stdout,
      (error: { stdout: string }) => error.stdout,
    );
  };
  const agreed = (said: string) => /Cipher is (?!\(NONE\))(\S+)/.exec(said)?.[1] ?? null;
  const lax = ['-cipher', 'ALL:COMPLEMENTOFALL:@SECLEVEL=0'];
  for (const host of ['app.test', 'rsa.test']) {
    assert.equal(agreed(await client(host, '-tls1_1', ...lax)), null);
    assert.equal(agreed(await client(host, '-tls1', ...lax)), null);
    assert.notEqual(agreed(await client(host, '-tls1_3')), null);
    // Every cipher that openssl has, one at a time: those of the profile are taken, and no others.
    const { stdout } = await run('openssl', ['ciphers', '-s', '-tls1_2', 'ALL:COMPLEMENTOFALL:@SECLEVEL=0']);
    const all = stdout.trim().split(':');
    const taken: string[] = [];
    for (const cipher of all) {
      const said = await client(host, '-tls1_2', '-cipher', `${cipher}:@SECLEVEL=0`);
      if (agreed(said)) taken.push(cipher);
    }
    const profile = ['AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'CHACHA20-POLY1305'];
    const of = (exchange: string) => profile.map((each) => `${exchange}-${each}`);
    const expected = host === 'app.test' ? of('ECDHE-ECDSA') : [...of('ECDHE-RSA'), ...of('DHE-RSA')];
    assert.deepEqual(taken.sort(), expected.sort(), host);
    assert.ok(all.length > 50, `${all.length} tried`);
  }
  const tickets = await client('app.test', '-tls1_2');
  assert.doesNotMatch(tickets, /TLS session ticket:/);
  assert.match(await client('app.test', '-alpn', 'h2'), /ALPN protocol: h2/);

  const unknown = await visitTls({ address, host: 'nobody.test', ca: '' }, '/', {
    rejectUnauthorized: false,
  });
  assert.deepEqual([unknown.status, unknown.text], [404, 'No application answers to this name.\n']);
  assert.notEqual(await shownFor(address, 'nobody.test'), ec.fingerprint);
});
