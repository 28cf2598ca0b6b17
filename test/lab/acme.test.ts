import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createServer } from 'node:http';
import { type TestContext, test } from 'node:test';
import { getOver } from '../../lab/services/acme.ts';
import { createAcme, newAccountKey, saysAuthority, thumbprint } from '../../src/adapters/acme/acme.ts';
import { bundleOf } from '../../src/adapters/certificates/bundle.ts';
import { checkCustom } from '../../src/adapters/certificates/check-custom.ts';
import { readCertificate } from '../../src/adapters/certificates/read-certificate.ts';
import { renewalTime } from '../../src/adapters/certificates/renewal-time.ts';
import { createEgress } from '../../src/adapters/egress/egress.ts';
import { faultOf } from '../support/faults.ts';
import { openLab } from '../support/lab.ts';
import { hangMs } from '../support/until.ts';

const { about, client } = await openLab();
const { directory: directoryUrl, caFile } = about.acme;
const userAgent = 'Slipway/test';
/** The authority runs on this machine and looks at port 80: on an address that no other test listens on. */
const here = `127.${(process.pid >> 16) & 127}.${(process.pid >> 8) & 255}.${process.pid & 255}`;

function open(t: TestContext) {
  const egress = createEgress({ allowPrivate: true, caFile });
  t.after(() => egress.close());
  return createAcme({ directoryUrl, userAgent, fetch: egress.fetch });
}

async function pointHere(t: TestContext, name: string): Promise<string> {
  const whole = `${name}-${process.pid}.${about.dns.zone}`;
  await client.call('PUT', '/dns', { name: whole, type: 'A', values: [here] });
  t.after(() => client.call('DELETE', `/dns?name=${whole}`));
  return whole;
}

/** Answers every challenge with nothing but the thumbprint, as the proxies do. */
async function answerWith(t: TestContext, print: string): Promise<void> {
  const web = createServer((request, response) => {
    const token = /^\/\.well-known\/acme-challenge\/([\w-]+)$/.exec(request.url ?? '')?.[1];
    response.writeHead(token ? 200 : 404).end(token ? `${token}.${print}` : 'nothing here');
  });
  await new Promise<void>((resolve) => web.listen(80, here, resolve));
  t.after(() => new Promise<void>((resolve) => web.close(() => resolve())));
}

test('a certificate for two names comes from the authority, stands every check, and can be revoked', async (t) => {
  const acme = open(t);
  const key = newAccountKey();
  const account = await acme.newAccount({ key });
  assert.equal((await acme.newAccount({ key })).url, account.url, 'an account is found again by its key');
  await answerWith(t, thumbprint(key));
  const names: [string, string] = [await pointHere(t, 'acme-a'), await pointHere(t, 'acme-b')];
  const looked: string[] = [];
  const preflight = async (token: string, wanted: string, name: string) => {
    const answer = await fetch(`http://${here}/.well-known/acme-challenge/${token}`, {
      headers: { host: name },
    });
    assert.equal(await answer.text(), wanted);
    looked.push(name);
  };
  const signal = AbortSignal.timeout(hangMs);
  const issued = await acme.order(account, { names, preflight, signal });
  assert.deepEqual(looked.toSorted(), names.toSorted());

  const facts = readCertificate(issued.certificate);
  assert.deepEqual(facts.names.toSorted(), names.toSorted());
  assert.deepEqual([facts.notAfter, facts.issuer], [issued.notAfter, issued.issuer]);
  assert.match(facts.issuer, /Pebble/);
  const rootPem = await getOver(`${about.acme.management}/roots/0`, caFile);
  const intermediate = new X509Certificate(
    issued.certificate.slice(issued.certificate.indexOf('-----BEGIN', 10)),
  );
  assert.ok(intermediate.verify(new X509Certificate(rootPem).publicKey));
  const now = new Date();
  for (const hostname of names) assert.ok(checkCustom({ ...issued, hostname, now }));
  const bundle = bundleOf(issued.certificate, issued.privateKey).reveal();
  assert.ok(new X509Certificate(bundle).checkPrivateKey(createPrivateKey(bundle)));

  const at = renewalTime({ ...issued, now, random: Math.random });
  assert.ok(at > now && at < issued.notAfter);

  const again = await acme.order(account, { names, preflight, signal, replaces: issued.certificate });
  const { serialNumber } = new X509Certificate(issued.certificate);
  assert.notEqual(new X509Certificate(again.certificate).serialNumber, serialNumber);
  await acme.revoke(account, issued.certificate, 'superseded');
  await acme.revoke(account, issued.certificate, 'superseded');
  const status = await getOver(`${about.acme.management}/cert-status-by-serial/${serialNumber}`, caFile);
  assert.equal(JSON.parse(status).Status, 'Revoked');
});

test('a name that leads nowhere, or to another account, fails with what the authority saw', async (t) => {
  const acme = open(t);
  const account = await acme.newAccount();
  await answerWith(t, thumbprint(newAccountKey()));
  const good = { preflight: async () => undefined, signal: AbortSignal.timeout(hangMs) };
  const name = await pointHere(t, 'acme-other');
  const other = await faultOf(() => acme.order(account, { ...good, names: [name] }));
  assert.equal(other.code, 'challenge_failed');
  assert.equal(other.errors?.[0]?.path, name);
  assert.match(other.evidence ?? '', /key authorization/i);
  const lost = `acme-nobody.${about.dns.zone}`;
  const nowhere = await faultOf(() => acme.order(account, { ...good, names: [lost] }));
  assert.equal(nowhere.code, 'challenge_failed');
  assert.match(nowhere.message, /acme-nobody/);
});

test('what the authority refuses is told as it says it', async (t) => {
  const acme = open(t);
  const account = await acme.newAccount();
  const signal = AbortSignal.timeout(hangMs);
  const preflight = async () => undefined;
  const bad = await faultOf(() =>
    acme.order(account, { names: ['not_a_name!.lab.test'], preflight, signal }),
  );
  assert.equal(bad.code, 'acme_refused');
  const star = await faultOf(() =>
    acme.order(account, { names: [`*.${about.dns.zone}`], preflight, signal }),
  );
  assert.equal(star.code, 'acme_refused');
  assert.match(star.message, /over HTTP/);
  const gone = { key: account.key, url: `${account.url}0` };
  const unknown = await faultOf(() => acme.order(gone, { names: ['a.lab.test'], preflight, signal }));
  assert.ok(saysAuthority(unknown, 'accountDoesNotExist'), `${unknown.message} ${unknown.evidence}`);
});

test('an authority whose own certificate is not trusted is not spoken to', async (t) => {
  const egress = createEgress({ allowPrivate: true });
  t.after(() => egress.close());
  const acme = createAcme({ directoryUrl, userAgent, fetch: egress.fetch, wait: async () => undefined });
  const fault = await faultOf(() => acme.newAccount());
  assert.equal(fault.code, 'acme_unreachable');
  assert.match(fault.evidence ?? '', /not trusted/);
});
