import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FindingCode } from '../src/adapters/dns/dns.ts';
import { codesOf, find, hostname, type Scene, serverV4, serverV6, startScene } from './support/dns-scene.ts';

async function only(scene: Scene, code: FindingCode) {
  const look = await scene.look();
  const about = codesOf(look).filter((each) => /^(address|behind)_/.test(each));
  assert.deepEqual(about, [code]);
  assert.equal(look.isProven, true, 'where a name points says nothing about whose it is');
  return find(look, code);
}

test('addresses that are not the server’s are named, all or some of them', async (t) => {
  const scene = await startScene(t);
  scene.set(hostname, 'A', ['8.8.8.8', '8.8.4.4']);
  const elsewhere = await only(scene, 'address_elsewhere');
  assert.match(
    elsewhere.message,
    /points to 8\.8\.[48]\.[48], 8\.8\.[48]\.[48], and the server is 9\.9\.9\.9/,
  );
  assert.match(elsewhere.hint ?? '', /A 9\.9\.9\.9, AAAA 2620:fe::9/);
  scene.set(hostname, 'A', [serverV4, '8.8.8.8']);
  const partly = await only(scene, 'address_partly_elsewhere');
  assert.match(partly.message, /the server at 9\.9\.9\.9, but also to 8\.8\.8\.8/);
});

test('an IPv6 address that is not the server’s is told, however right the IPv4 address is', async (t) => {
  const scene = await startScene(t);
  scene.set(hostname, 'AAAA', ['2001:4860:4860::8888']);
  const finding = await only(scene, 'address_v6_elsewhere');
  assert.match(finding.message, /IPv6 address 2001:4860:4860::8888 is not/);
  scene.set(hostname, 'AAAA', ['2620:00fe:0:0::9']);
  assert.match((await only(scene, 'address_found')).message, new RegExp(`${serverV4}, ${serverV6}`));
});

test('a name without an address, and without a server to compare with, is told', async (t) => {
  const scene = await startScene(t);
  const unknown = await scene.look({ serverAddresses: [] });
  assert.equal(find(unknown, 'address_seen').severity, 'info');
  scene.remove(hostname, 'A');
  assert.match((await only(scene, 'address_missing')).hint ?? '', /A 9\.9\.9\.9/);
});

test('an address that nobody on the internet can reach is told, unless it is the server’s own in its own network', async (t) => {
  const scene = await startScene(t);
  for (const address of ['127.0.0.1', '10.0.0.5', '192.168.1.1', '169.254.1.1']) {
    scene.set(hostname, 'A', [address]);
    const look = await scene.look();
    assert.match(
      find(look, 'address_private').message,
      new RegExp(`${address} \\((loopback|private|link-local)\\)`),
    );
    assert.ok(codesOf(look).includes('address_elsewhere'));
  }
  scene.set(hostname, 'A', ['10.0.0.5']);
  const own = await scene.look({ serverAddresses: ['10.0.0.5'] });
  assert.ok(codesOf(own).includes('address_found') && !codesOf(own).includes('address_private'));
  const open = await scene.look({ serverAddresses: ['10.0.0.5'] }, { allowPrivate: false });
  assert.ok(codesOf(open).includes('address_private'));
});

test('a content delivery network is known by its addresses or by the names it gives out', async (t) => {
  const scene = await startScene(t);
  for (const [address, name] of [
    ['104.16.1.1', 'Cloudflare'],
    ['151.101.1.1', 'Fastly'],
    ['13.224.0.7', 'Amazon CloudFront'],
  ] as const) {
    scene.set(hostname, 'A', [address]);
    const finding = await only(scene, 'behind_cdn');
    assert.match(finding.message, new RegExp(`is behind ${name}`));
    assert.match(finding.hint ?? '', /\.well-known\/acme-challenge/);
  }
  scene.remove(hostname, 'A');
  for (const server of [scene.first, scene.second, scene.resolver]) server.addZone('edgekey.net');
  scene.set('shop.edgekey.net', 'A', ['23.0.0.1']);
  scene.resolver.set('shop.edgekey.net', 'A', ['23.0.0.1']);
  scene.set(hostname, 'CNAME', ['shop.edgekey.net']);
  const alias = await only(scene, 'behind_cdn');
  assert.match(alias.message, /is behind Akamai/);
  assert.match(
    alias.evidence ?? '',
    /app\.example\.test CNAME shop\.edgekey\.net\nshop\.edgekey\.net A 23\.0\.0\.1/,
  );
});

test('an alias is followed to the server, and told where it ends in nothing or in a circle', async (t) => {
  const scene = await startScene(t);
  scene.remove(hostname, 'A');
  scene.set(hostname, 'CNAME', ['web.example.test']);
  assert.match(
    (await only(scene, 'address_alias_broken')).message,
    /app\.example\.test → web\.example\.test/,
  );
  scene.set('web.example.test', 'A', [serverV4]);
  await only(scene, 'address_found');
  scene.remove('web.example.test');
  scene.set('web.example.test', 'CNAME', [hostname]);
  assert.match((await only(scene, 'address_alias_broken')).message, /leads in a circle/);
});

test('a resolver that still remembers another address is named with the time left', async (t) => {
  const scene = await startScene(t);
  scene.resolver.remember(hostname, 'A', ['8.8.8.8'], 3600);
  const look = await scene.look();
  assert.equal(find(look, 'address_found').severity, 'ok');
  assert.match(
    find(look, 'address_not_propagated').message,
    /127\.60\.0\.9:\d+ still remembers 8\.8\.8\.8 for up to 60 minutes/,
  );
});

test('CAA that forbids our authority is shown, from wherever up the tree it stands', async (t) => {
  const scene = await startScene(t);
  scene.set('example.test', 'CAA', ['0 issue "digicert.com"', '0 iodef "mailto:a@example.test"']);
  const look = await scene.look();
  const finding = find(look, 'caa_forbids');
  assert.match(
    finding.message,
    /CAA records of example\.test allow only digicert\.com .*letsencrypt\.org is ours/,
  );
  assert.match(finding.evidence ?? '', /example\.test CAA 0 issue "digicert\.com"/);
  assert.match(finding.hint ?? '', /CAA 0 issue "letsencrypt\.org"/);
  scene.set(hostname, 'CAA', ['0 issue "LetsEncrypt.org"']);
  assert.match(find(await scene.look(), 'caa_allows').message, /records of app\.example\.test allow/);
  scene.set(hostname, 'CAA', ['0 issue ";"']);
  assert.match(find(await scene.look(), 'caa_forbids').message, /allow nobody/);
  scene.set(hostname, 'CAA', ['0 issue "letsencrypt.org; validationmethods=dns-01"']);
  find(await scene.look(), 'caa_forbids_method');
  scene.set(hostname, 'CAA', ['0 issue "letsencrypt.org; accounturi=https://acme.test/acct/1"']);
  assert.equal(find(await scene.look(), 'caa_account').severity, 'warning');
});

test('for a wildcard the CAA for wildcards counts, and for a plain name it does not', async (t) => {
  const scene = await startScene(t);
  scene.set('example.test', 'CAA', ['0 issue "letsencrypt.org"', '0 issuewild "digicert.com"']);
  find(await scene.look(), 'caa_allows');
  const wildcard = await scene.look({ hostname: '*.example.test' });
  assert.match(find(wildcard, 'caa_forbids').hint ?? '', /CAA 0 issuewild/);
});

test('CAA that cannot be read is told, because authorities refuse then', async (t) => {
  const scene = await startScene(t);
  scene.remove(hostname, 'A');
  scene.set(hostname, 'A', [serverV4]);
  for (const server of [scene.first, scene.second, scene.resolver]) server.fail('example.test', 'servfail');
  const look = await scene.look();
  assert.equal(find(look, 'caa_unreadable').severity, 'error');
});
