import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as packet from 'dns-packet';
import {
  codesOf,
  find,
  hostname,
  record,
  serverV4,
  startScene,
  startScripted,
  value,
} from './support/dns-scene.ts';

test('a domain that is set up right is proven, and every finding says so', async (t) => {
  const scene = await startScene(t);
  const look = await scene.look();
  assert.equal(look.isProven, true);
  assert.equal(look.zone, 'example.test');
  assert.deepEqual(codesOf(look), ['address_found', 'caa_allows', 'record_found']);
  assert.ok(look.findings.every(({ severity }) => severity === 'ok'));
  assert.match(find(look, 'record_found').evidence ?? '', /ns1\.example\.test.*\n.*ns2\.example\.test/);
  assert.ok(look.queries < 30, `${look.queries} questions`);
  for (const server of [scene.first, scene.second])
    assert.ok(server.queries(record.name).length > 0, 'each server of the zone is asked itself');
});

test('a record that is missing is told with its zone, and what to enter where', async (t) => {
  const scene = await startScene(t);
  scene.remove(record.name);
  const missing = await scene.look();
  assert.equal(missing.isProven, false);
  assert.deepEqual(codesOf(missing), ['address_found', 'caa_allows', 'record_missing']);
  const finding = find(missing, 'record_missing');
  assert.match(
    finding.message,
    /The zone example\.test exists, but has no TXT record _slipway\.app\.example\.test/,
  );
  assert.match(finding.hint ?? '', /enter _slipway\.app as the name/);
  scene.set(`${record.name}.example.test`, 'TXT', [value]);
  const doubled = find(await scene.look(), 'record_missing');
  assert.match(doubled.message, /stands at _slipway\.app\.example\.test\.example\.test instead/);
});

test('a wrong value is shown beside the one that was expected', async (t) => {
  const scene = await startScene(t);
  scene.set(record.name, 'TXT', ['something else\u001b[31m']);
  const look = await scene.look();
  assert.equal(look.isProven, false);
  const finding = find(look, 'record_wrong');
  assert.ok(finding.message.includes('“something else\\u001b[31m”'), finding.message);
  assert.ok(finding.message.includes(`“${value}” was expected`));
  scene.set(record.name, 'TXT', [`"${value}"`]);
  assert.match(find(await scene.look(), 'record_wrong').hint ?? '', /quotation marks/);
  scene.set(record.name, 'TXT', [value.toUpperCase()]);
  assert.match(find(await scene.look(), 'record_wrong').hint ?? '', /upper and lower case/);
});

test('among several values one that is right is enough', async (t) => {
  const scene = await startScene(t);
  scene.set(record.name, 'TXT', ['v=spf1 -all', value, 'another']);
  const look = await scene.look();
  assert.equal(look.isProven, true);
  assert.match(find(look, 'record_found').message, /other values there do no harm/);
});

test('a record longer than one string is put together', async (t) => {
  const scene = await startScene(t);
  const long = `slipway-verification=${'x'.repeat(400)}`;
  scene.set(record.name, 'TXT', [long]);
  assert.equal((await scene.look({ record: { ...record, value: long } })).isProven, true);
});

test('a resolver that still has the old value is named with the time left, and the proof is asked for over TCP', async (t) => {
  const scene = await startScene(t);
  scene.resolver.remember(record.name, 'TXT', ['old'], 5400);
  const look = await scene.look();
  assert.equal(look.isProven, true);
  const finding = find(look, 'record_not_propagated');
  assert.equal(finding.severity, 'warning');
  assert.match(finding.message, /127\.60\.0\.9:\d+ still remembers the old value for up to 90 minutes/);
  assert.ok(scene.first.queries(record.name).some(({ transport }) => transport === 'tcp'));
  scene.resolver.remember(record.name, 'TXT', [], 300);
  const nothing = find(await scene.look(), 'record_not_propagated');
  assert.match(nothing.message, /still remembers that there is none for up to 5 minutes/);
});

test('servers of the zone that disagree are named with their serials, and prove nothing', async (t) => {
  const scene = await startScene(t);
  scene.second.remove(record.name);
  const look = await scene.look();
  assert.equal(look.isProven, false);
  const finding = find(look, 'servers_disagree');
  assert.match(
    finding.message,
    /ns1\.example\.test \(127\.60\.0\.1:\d+\) has .*, and ns2\.example\.test .* does not/,
  );
  assert.equal(finding.evidence?.match(/has serial \d+/g)?.length, 2);
});

test('a CNAME where the record should be is told, and what it leads to proves nothing', async (t) => {
  const scene = await startScene(t);
  scene.remove(record.name);
  scene.set('elsewhere.example.test', 'TXT', [value]);
  scene.set(record.name, 'CNAME', ['elsewhere.example.test']);
  const look = await scene.look();
  assert.equal(look.isProven, false);
  assert.match(
    find(look, 'record_alias').message,
    /is a CNAME to elsewhere\.example\.test.*not therefore the owner/,
  );
  scene.remove(record.name);
  scene.remove(hostname);
  scene.set('*.example.test', 'CNAME', ['somewhere.example.test']);
  assert.match(find(await scene.look(), 'record_alias').hint ?? '', /where a wildcard makes it/);
});

test('a domain that does not exist is told with the nearest name that does', async (t) => {
  const scene = await startScene(t);
  const look = await scene.look({
    hostname: 'shop.nowhere.test',
    record: { name: '_slipway.shop.nowhere.test', value },
  });
  assert.equal(look.isProven, false);
  assert.deepEqual(codesOf(look), ['no_such_domain']);
  assert.match(find(look, 'no_such_domain').message, /does not exist\. The nearest name that does is test\./);
});

test('a name server that is silent, fails, or does not know the zone is told as what it is', async (t) => {
  const scene = await startScene(t);
  for (const [fault, code, words] of [
    ['timeout', 'name_server_silent', /ns2\.example\.test .* does not answer\. Others/],
    ['servfail', 'name_server_failing', /ns2\.example\.test .* answers with an error/],
    ['refused', 'name_server_lame', /ns2\.example\.test .* does not know the zone/],
  ] as const) {
    scene.second.fail(record.name, fault);
    const look = await scene.look({}, { timeoutMs: 1_500 });
    assert.equal(look.isProven, true, 'the others answer');
    const finding = find(look, code);
    assert.equal(finding.severity, 'warning');
    assert.match(finding.message, words);
    scene.first.fail(record.name, fault);
    const all = await scene.look({}, { timeoutMs: 1_500 });
    assert.equal(all.isProven, false);
    assert.equal(find(all, code).severity, 'error');
    assert.match(find(all, code).message, /No other answers/);
    scene.first.fail(record.name, undefined);
    scene.second.fail(record.name, undefined);
  }
  scene.set('ns2.example.test', 'A', ['127.60.0.77']);
  const closed = find(await scene.look(), 'name_server_silent');
  assert.match(closed.evidence ?? '', /nothing listens there/);
  scene.set('example.test', 'NS', ['ns1.example.test', 'gone.example.test']);
  assert.match(find(await scene.look(), 'name_server_unknown').message, /gone\.example\.test has no address/);
});

test('name servers at private addresses are not asked unless that is allowed', async (t) => {
  const scene = await startScene(t);
  const look = await scene.look({}, { allowPrivate: false });
  const finding = find(look, 'name_server_private');
  assert.match(finding.evidence ?? '', /127\.60\.0\.1/);
  assert.ok(look.isProven, 'the resolvers have seen it');
  let asked = 0;
  await startScripted(t, '127.60.0.5', scene.port, () => {
    asked++;
    return { flags: packet.AUTHORITATIVE_ANSWER };
  });
  scene.set('example.test', 'NS', ['inner.example.test']);
  scene.set('inner.example.test', 'A', ['127.60.0.5']);
  find(await scene.look({}, { allowPrivate: false }), 'name_server_private');
  assert.equal(asked, 0);
  await scene.look();
  assert.ok(asked > 0, 'it would have been asked');
  scene.set('example.test', 'NS', ['ns1.example.test']);
  scene.set('ns1.example.test', 'A', ['169.254.169.254']);
  assert.match(find(await scene.look(), 'name_server_private').evidence ?? '', /169\.254\.169\.254/);
});

test('wrong signatures are told where a resolver refuses what it gives without validation, and prove nothing', async (t) => {
  const scene = await startScene(t);
  for (const name of [hostname, record.name]) scene.resolver.fail(name, 'bogus');
  const look = await scene.look();
  assert.equal(look.isProven, false);
  const finding = find(look, 'dnssec_broken');
  assert.match(finding.message, /DNSSEC signatures of app\.example\.test are wrong/);
  assert.match(finding.evidence ?? '', /SERVFAIL for .* and an answer without validation/);
  assert.ok(codesOf(look).includes('record_found'), 'the zone has it nevertheless');
  for (const name of [hostname, record.name]) scene.resolver.fail(name, 'servfail');
  assert.ok(
    !codesOf(await scene.look()).includes('dnssec_broken'),
    'an error alone is not one of signatures',
  );
});

test('resolvers that do not answer are told as our own fault', async (t) => {
  const scene = await startScene(t);
  const look = await scene.look({}, { servers: ['127.60.0.99:9'] });
  assert.equal(look.isProven, false);
  assert.equal(find(look, 'resolvers_failing').severity, 'error');
  const some = await scene.look({}, { servers: ['127.60.0.99:9', `127.60.0.9:${scene.port}`] });
  assert.equal(some.isProven, true);
  assert.equal(find(some, 'resolvers_failing').severity, 'warning');
});

test('a wildcard is looked at by its own records', async (t) => {
  const scene = await startScene(t);
  scene.set('*.example.test', 'A', [serverV4]);
  scene.set('_slipway.example.test', 'TXT', [value]);
  const look = await scene.look({
    hostname: '*.example.test',
    record: { name: '_slipway.example.test', value },
  });
  assert.equal(look.isProven, true);
  assert.deepEqual(codesOf(look), ['address_found', 'caa_allows', 'record_found']);
});
