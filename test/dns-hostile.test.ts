import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as packet from 'dns-packet';
import {
  type Asked,
  codesOf,
  dnsOf,
  find,
  hostname,
  record,
  startScripted,
  value,
} from './support/dns-scene.ts';
import { hangMs } from './support/until.ts';

const authoritative = packet.AUTHORITATIVE_ANSWER;
const nxdomain = authoritative | 3;
const server = '127.61.0.1';
const domain = { hostname, record, serverAddresses: ['9.9.9.9'], authority: [] };

const soa: packet.Answer = {
  name: 'example.test',
  type: 'SOA',
  ttl: 60,
  data: { mname: 'ns.example.test', rname: 'h.example.test', serial: 1, minimum: 60 },
};
const ns = (target: string, name = 'example.test'): packet.Answer => ({
  name,
  type: 'NS',
  ttl: 60,
  data: target,
});
const a = (name: string, data: string): packet.Answer => ({ name, type: 'A', ttl: 60, data });
const txt = (data: string): packet.Answer => ({ name: record.name, type: 'TXT', ttl: 60, data });

/** A zone of one server, which is its own resolver. */
function ordinary({ name, type }: Asked): Partial<packet.Packet> {
  if (type === 'SOA')
    return { flags: authoritative, answers: name === 'example.test' ? [soa] : [], authorities: [soa] };
  if (type === 'NS') return { flags: authoritative, answers: [ns('ns.example.test')] };
  if (name === 'ns.example.test' && type === 'A') return { flags: authoritative, answers: [a(name, server)] };
  if (name === record.name && type === 'TXT') return { flags: authoritative, answers: [txt(value)] };
  return { flags: authoritative, authorities: [soa] };
}

test('the ordinary zone of this file is proven', async (t) => {
  const port = await startScripted(t, server, 0, ordinary);
  assert.equal((await dnsOf(port, [`${server}:${port}`]).checkDomain(domain, t.signal)).isProven, true);
});

test('thousands of name servers are not all asked', async (t) => {
  let asked = 0;
  const port = await startScripted(t, server, 0, (query) => {
    asked++;
    if (query.type === 'NS') {
      if (query.transport === 'udp') return { flags: authoritative | packet.TRUNCATED_RESPONSE };
      return {
        flags: authoritative,
        answers: Array.from({ length: 1500 }, (_, index) => ns(`n${index}.test`)),
      };
    }
    if (query.name.endsWith('.test') && query.type === 'A') return { answers: [a(query.name, server)] };
    return ordinary(query);
  });
  const look = await dnsOf(port, [`${server}:${port}`]).checkDomain(domain, t.signal);
  assert.ok(look.queries < 60 && asked < 80, `${look.queries} questions`);
});

test('a message with more records than anybody needs is not read', async (t) => {
  const port = await startScripted(t, server, 0, (query) => {
    if (query.type !== 'TXT' || query.isRecursive) return ordinary(query);
    if (query.transport === 'udp') return { flags: authoritative | packet.TRUNCATED_RESPONSE };
    return { flags: authoritative, answers: Array.from({ length: 2001 }, () => ({ ...txt(''), name: '.' })) };
  });
  const look = await dnsOf(port, [`${server}:${port}`]).checkDomain(domain, t.signal);
  assert.match(find(look, 'name_server_silent').evidence ?? '', /makes no sense: it has 2001 records/);
});

test('aliases without end come to an end', async (t) => {
  let count = 0;
  const port = await startScripted(t, server, 0, (query) => {
    if (query.type !== 'A' || query.name === 'ns.example.test') return ordinary(query);
    const data = `a${count++}.example.test`;
    return { flags: authoritative, answers: [{ name: query.name, type: 'CNAME', ttl: 1, data }] };
  });
  const look = await dnsOf(port, [`${server}:${port}`]).checkDomain(domain, t.signal);
  find(look, 'address_alias_broken');
  assert.ok(look.queries < 60);
});

test('delegations are followed to the servers they name, and not for ever', async (t) => {
  const child = '127.61.0.2';
  const parentPort = await startScripted(t, server, 0, (query) => {
    if (query.name.endsWith('app.example.test') && !query.isRecursive) {
      const additionals = [a('ns.app.example.test', child)];
      return { authorities: [ns('ns.app.example.test', hostname)], additionals };
    }
    return ordinary(query);
  });
  await startScripted(t, child, parentPort, (query) =>
    query.name === record.name && query.type === 'TXT'
      ? { flags: authoritative, answers: [txt('of the child')] }
      : { flags: authoritative },
  );
  const dns = dnsOf(parentPort, [`${server}:${parentPort}`]);
  const look = await dns.checkDomain(domain, t.signal);
  assert.equal(look.zone, hostname);
  assert.match(find(look, 'record_wrong').evidence ?? '', /127\.61\.0\.2.*of the child/);
  assert.equal(look.isProven, false, 'a resolver that says otherwise is no proof');
});

test('one server of several cannot lead away to servers of its own', async (t) => {
  const [evil, accomplice] = ['127.61.0.3', '127.61.0.4'];
  const port = await startScripted(t, server, 0, (query) => {
    if (query.type === 'NS')
      return { flags: authoritative, answers: [ns('ns.example.test'), ns('old.test')] };
    if (query.name === 'old.test' && query.type === 'A') return { answers: [a(query.name, evil)] };
    if (query.type === 'TXT') return { flags: nxdomain, authorities: [soa] };
    return ordinary(query);
  });
  await startScripted(t, evil, port, () => ({
    authorities: [ns('x.example.test', hostname)],
    additionals: [a('x.example.test', accomplice)],
  }));
  let asked = 0;
  await startScripted(t, accomplice, port, () => {
    asked++;
    return { flags: authoritative, answers: [txt(value)] };
  });
  const look = await dnsOf(port, [`${server}:${port}`]).checkDomain(domain, t.signal);
  assert.equal(look.isProven, false);
  assert.equal(look.zone, 'example.test');
  assert.equal(asked, 0);
  find(look, 'record_missing');
});

test('a resolver that knows no such name and no zone is believed', async (t) => {
  const port = await startScripted(t, server, 0, () => ({ flags: 3 }));
  const look = await dnsOf(port, [`${server}:${port}`]).checkDomain(domain, t.signal);
  assert.deepEqual(codesOf(look), ['no_such_domain']);
});

test('a delegation to a server that knows nothing of the zone is told as lame', async (t) => {
  const port = await startScripted(t, server, 0, (query) => {
    if (query.isRecursive || query.type !== 'TXT') return ordinary(query);
    return { answers: [txt(value)] };
  });
  const look = await dnsOf(port, [`${server}:${port}`]).checkDomain(domain, t.signal);
  assert.match(find(look, 'name_server_lame').evidence ?? '', /without being an authority/);
});

test('answers with another id, to another question, or that are no messages are not taken', async (t) => {
  const wrong: readonly ((asked: Asked) => Partial<packet.Packet> | Buffer)[] = [
    ({ id }) => ({ id: id ^ 1, flags: authoritative, answers: [txt(value)] }),
    () => ({ questions: [{ name: 'other.test', type: 'TXT' }], flags: authoritative, answers: [txt(value)] }),
    ({ id }) => Buffer.from([id >> 8, id & 0xff, 0x84, 0, 0, 1, 0, 1]),
    () => Buffer.from('rubbish'),
    () => ({ type: 'query' }),
  ];
  const tries = wrong.map(async (answer, index) => {
    const port = await startScripted(t, server, 0, (query) =>
      query.type === 'TXT' ? answer(query) : ordinary(query),
    );
    const look = await dnsOf(port, [`${server}:${port}`], { timeoutMs: 1_500 }).checkDomain(domain, t.signal);
    assert.equal(look.isProven, false, `answer ${index}`);
    assert.ok(codesOf(look).includes('name_server_silent'), `answer ${index}`);
  });
  await Promise.all(tries);
});

test('an answer that UDP alone gives is no proof while no resolver has seen it', async (t) => {
  const port = await startScripted(t, server, 0, (query) => {
    if (query.name !== record.name || query.type !== 'TXT') return ordinary(query);
    if (!query.isRecursive && query.transport === 'udp') return ordinary(query);
    return { flags: nxdomain, authorities: [soa] };
  });
  const look = await dnsOf(port, [`${server}:${port}`]).checkDomain(domain, t.signal);
  assert.equal(look.isProven, false);
});

test('a look ends in its time with what it has, and at once when it is aborted', {
  timeout: hangMs,
}, async (t) => {
  const port = await startScripted(t, server, 0, (query) =>
    query.type === 'A' && query.name === hostname ? undefined : ordinary(query),
  );
  const servers = [`${server}:${port}`];
  // Only its own limit can end this look: the server that does not answer has far longer.
  const look = await dnsOf(port, servers, { timeoutMs: 2 * hangMs, checkMs: 1_500 }).checkDomain(
    domain,
    t.signal,
  );
  assert.ok(codesOf(look).includes('look_incomplete') && codesOf(look).includes('record_found'));
  const few = await dnsOf(port, servers, { mostQueries: 3 }).checkDomain(domain, t.signal);
  assert.equal(few.queries, 3);
  const stop = new AbortController();
  const cut = dnsOf(port, servers, { timeoutMs: 2 * hangMs }).checkDomain(domain, stop.signal);
  stop.abort(new Error('enough'));
  await assert.rejects(cut, /enough/);
});

test('what a resolver says about signatures is passed on', async (t) => {
  const port = await startScripted(t, server, 0, (query) => {
    if (!query.isRecursive || query.name !== record.name || query.type !== 'TXT') return ordinary(query);
    const name = Buffer.concat([
      ...query.name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
      Buffer.from([0, 0, 16, 0, 1]),
    ]);
    // The second time the query says that it wants no validation.
    return query.isValidated
      ? Buffer.concat([
          header(query.id, 0x8002),
          name,
          Buffer.from('00002910000000000000060' + '00f00020007', 'hex'),
        ])
      : ordinary(query);
  });
  const look = await dnsOf(port, [`${server}:${port}`]).checkDomain(domain, t.signal);
  assert.match(find(look, 'dnssec_broken').evidence ?? '', /Signature Expired/);
  assert.equal(look.isProven, false);
});

function header(id: number, flags: number): Buffer {
  return Buffer.from([id >> 8, id & 0xff, flags >> 8, flags & 0xff, 0, 1, 0, 0, 0, 0, 0, 1]);
}
