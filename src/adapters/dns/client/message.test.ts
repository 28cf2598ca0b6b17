import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as packet from 'dns-packet';
import { Random } from '../../../../test/support/random.ts';
import { answersTo, decodeMessage, encodeQuery } from './message.ts';
import { Unreadable } from './wire.ts';

const question: packet.Question = { name: 'app.example.org', type: 'TXT' };
const full: packet.Packet = {
  type: 'response',
  id: 77,
  questions: [question],
  flags: packet.AUTHORITATIVE_ANSWER | packet.AUTHENTIC_DATA,
  answers: [
    { name: 'App.Example.org', type: 'CNAME', ttl: 5, data: 'b.example.org' },
    { name: 'b.example.org', type: 'TXT', ttl: 300, data: ['one ', 'two'] },
    { name: 'b.example.org', type: 'A', ttl: 300, data: '192.0.2.1' },
    { name: 'b.example.org', type: 'AAAA', ttl: 300, data: '2001:db8:0:0:0:0:0:1' },
    {
      name: 'b.example.org',
      type: 'CAA',
      ttl: 300,
      data: { flags: 128, tag: 'issue', value: 'ca.test; a=b' },
    },
    { name: 'b.example.org', type: 'MX', ttl: 300, data: { preference: 1, exchange: 'm.test' } },
  ],
  authorities: [
    { name: 'example.org', type: 'NS', ttl: 1, data: 'ns.example.org' },
    {
      name: 'example.org',
      type: 'SOA',
      ttl: 9,
      data: { mname: 'a.b', rname: 'c.d', serial: 12, minimum: 34 },
    },
  ],
};

test('what another encoder writes is read as it was meant', () => {
  const message = decodeMessage(packet.encode(structuredClone(full)));
  assert.deepEqual(
    [message.id, message.rcode, message.isAuthoritative, message.isTruncated],
    [77, 'NOERROR', true, false],
  );
  assert.deepEqual(message.answers, [
    { name: 'app.example.org', ttl: 5, type: 'CNAME', target: 'b.example.org' },
    { name: 'b.example.org', ttl: 300, type: 'TXT', text: 'one two' },
    { name: 'b.example.org', ttl: 300, type: 'A', address: '192.0.2.1' },
    { name: 'b.example.org', ttl: 300, type: 'AAAA', address: '2001:db8::1' },
    { name: 'b.example.org', ttl: 300, type: 'CAA', isCritical: true, tag: 'issue', value: 'ca.test; a=b' },
    { name: 'b.example.org', ttl: 300, type: 'other', number: 15 },
  ]);
  assert.deepEqual(message.authorities, [
    { name: 'example.org', ttl: 1, type: 'NS', target: 'ns.example.org' },
    { name: 'example.org', ttl: 9, type: 'SOA', serial: 12, minimum: 34 },
  ]);
});

test('a query is read by another decoder as it was meant', () => {
  const query = {
    name: '_slipway.app.example.org',
    type: 'CAA',
    isRecursive: true,
    withoutValidation: true,
  } as const;
  const read = packet.decode(encodeQuery(query, 4711));
  assert.deepEqual([read.id, read.flag_rd, read.flag_cd, read.flag_qr], [4711, true, true, false]);
  assert.deepEqual(read.questions?.[0], { name: query.name, type: 'CAA', class: 'IN' });
  const [edns] = read.additionals ?? [];
  assert.ok(edns?.type === 'OPT' && edns.udpPayloadSize === 1232);
  assert.equal(packet.decode(encodeQuery({ ...query, isRecursive: false }, 1)).flag_rd, false);
  for (const name of ['a..b', 'x'.repeat(64), `${'abcdefghi.'.repeat(26)}org`])
    assert.throws(() => encodeQuery({ ...query, name }, 1), Unreadable);
});

/** A message of one question and one CNAME at `owner`, both as bytes. */
function withAlias(owner: readonly number[], target: readonly number[]): Buffer {
  const head = [0, 1, 0x84, 0, 0, 1, 0, 1, 0, 0, 0, 0];
  const asked = [1, 97, 0, 0, 5, 0, 1];
  return Buffer.from([...head, ...asked, ...owner, 0, 5, 0, 1, 0, 0, 0, 9, 0, target.length, ...target]);
}

test('names that point back are read, and those that point forward, to themselves or in a circle are refused', () => {
  const [answer] = decodeMessage(withAlias([0xc0, 12], [1, 98, 0xc0, 12])).answers;
  assert.deepEqual(answer, { name: 'a', ttl: 9, type: 'CNAME', target: 'b.a' });
  // The target begins at 31.
  for (const target of [
    [0xc0, 31],
    [1, 98, 0xc0, 31],
    [0xc0, 33, 0xc0, 31],
    [0xff, 0xff],
    [0x40, 1],
    [0xc0],
    [3, 97],
  ])
    assert.throws(() => decodeMessage(withAlias([0xc0, 12], target)), Unreadable, String(target));
  assert.throws(() => decodeMessage(withAlias([0xc0, 19], [0])), /points forward/);
});

test('a dot within a label does not make another name of it', () => {
  const [answer] = decodeMessage(withAlias([0xc0, 12], [3, 97, 46, 98, 0])).answers;
  assert.ok(answer?.type === 'CNAME' && answer.target === 'a\\046b');
});

test('a record that has more or less bytes than its kind is refused', () => {
  const one = (data: Buffer, type: number) => {
    const head = Buffer.from([
      0,
      1,
      0x84,
      0,
      0,
      0,
      0,
      1,
      0,
      0,
      0,
      0,
      0,
      type >> 8,
      type & 255,
      0,
      1,
      0,
      0,
      0,
      1,
    ]);
    return Buffer.concat([head, Buffer.from([data.length >> 8, data.length & 255]), data, Buffer.alloc(40)]);
  };
  assert.equal(decodeMessage(one(Buffer.alloc(4), 1)).answers.length, 1);
  for (const [size, type] of [
    [3, 1],
    [5, 1],
    [15, 28],
    [17, 28],
    [0, 2],
    [2, 2],
    [1, 257],
    [21, 6],
  ] as const)
    assert.throws(() => decodeMessage(one(Buffer.alloc(size), type)), Unreadable, `${size} bytes of ${type}`);
  assert.throws(() => decodeMessage(one(Buffer.from([5, 1, 2]), 16)), Unreadable, 'a string past its record');
});

test('only an answer to the very question is one', () => {
  const query = { name: 'app.example.org', type: 'TXT', isRecursive: false } as const;
  const read = (change: Partial<packet.Packet>) =>
    decodeMessage(packet.encode({ ...structuredClone(full), ...change }));
  assert.equal(answersTo(read({}), query, 77), true);
  assert.equal(answersTo(read({}), query, 78), false);
  assert.equal(answersTo(read({ type: 'query' }), query, 77), false);
  assert.equal(answersTo(read({ questions: [{ ...question, type: 'A' }] }), query, 77), false);
  assert.equal(answersTo(read({ questions: [{ ...question, name: 'b.org' }] }), query, 77), false);
  assert.equal(answersTo(read({ questions: [] }), query, 77), false);
  assert.equal(answersTo(read({ questions: [], answers: [], flags: 5 }), query, 77), true, 'a refusal');
});

test('any bytes at all are read or refused', () => {
  const random = new Random(20_261_115);
  const whole = packet.encode(structuredClone(full));
  let read = 0;
  for (let round = 0; round < 30_000; round++) {
    const bytes = random.chance(0.2)
      ? Buffer.from(Array.from({ length: random.between(0, 80) }, () => random.between(0, 255)))
      : Buffer.from(whole.subarray(0, random.chance(0.2) ? random.between(0, whole.length) : whole.length));
    const changes = random.between(0, 4);
    for (let change = 0; change < changes && bytes.length > 0; change++)
      bytes[random.between(0, bytes.length - 1)] = random.pick(0, 1, 0xc0, 0xff, random.between(0, 255));
    try {
      decodeMessage(bytes);
      read++;
    } catch (error) {
      assert.ok(error instanceof Unreadable, `${bytes.toString('hex')}: ${String(error)}`);
    }
  }
  assert.ok(read > 1_000 && read < 29_000, `${read} were read`);
});

test('a long chain of pointers is not followed for every record that leads into it', () => {
  // One record of an unknown kind holds the chain, each pointer leading to the one before; 1900 others begin at its end.
  const chain = Buffer.alloc(0x3f00);
  const start = 12 + 11;
  for (let at = 2; at < chain.length; at += 2) chain.writeUInt16BE(0xc000 | (start + at - 2), at);
  const holder = Buffer.from([0, 0, 99, 0, 1, 0, 0, 0, 0, chain.length >> 8, chain.length & 0xff]);
  const end = 0xc000 | (start + chain.length - 2);
  const others = Buffer.from([end >> 8, end & 0xff, 0, 99, 0, 1, 0, 0, 0, 0, 0, 0]);
  const head = Buffer.from([0, 1, 0x84, 0, 0, 0, 1901 >> 8, 1901 & 0xff, 0, 0, 0, 0]);
  const bytes = Buffer.concat([head, holder, chain, ...Array<Buffer>(1900).fill(others)]);
  assert.throws(() => decodeMessage(bytes), /too many pointers/);
});
