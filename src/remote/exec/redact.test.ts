import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processorSeconds } from '../../../test/support/processor-time.ts';
import { Random } from '../../../test/support/random.ts';
import { Secret } from '../../secret.ts';
import { createRedactor, redactWhole } from './redact.ts';

const password = "pa'ss wörd/+&=%";
const secrets = [password, 'hunter2', 'hunter2-and-more', 'tok_AAAAAAAAAAAAAAAA'].map(
  (text) => new Secret(text),
);

function redacted(text: string | Buffer, chunks: (whole: Buffer) => Buffer[] = (whole) => [whole]): string {
  const redactor = createRedactor(secrets);
  const out = chunks(Buffer.from(text)).map((chunk) => redactor.push(chunk));
  return Buffer.concat([...out, redactor.end()]).toString('utf8');
}

const bytewise = (whole: Buffer) => [...whole].map((byte) => Buffer.from([byte]));

test('a secret is taken out, and what is around it stays', () => {
  assert.equal(redacted('user=ada password=hunter2;'), 'user=ada password=[secret];');
  assert.equal(redacted('hunter2hunter2 hunter'), '[secret][secret] hunter');
  assert.equal(redacted('x hunter2-and-more y'), 'x [secret] y');
  assert.equal(redacted('nothing here'), 'nothing here');
});

test('in a URL, a form and JSON it is found too', () => {
  const url = encodeURIComponent(password);
  assert.equal(redacted(`postgres://ada:${url}@db/shop`), 'postgres://ada:[secret]@db/shop');
  assert.equal(redacted(new URLSearchParams({ p: password }).toString()), 'p=[secret]');
  const json = JSON.stringify({ p: 'a"b\\c\n' });
  const redactor = createRedactor([new Secret('a"b\\c\n')]);
  assert.equal(
    Buffer.concat([redactor.push(Buffer.from(json)), redactor.end()]).toString(),
    '{"p":"[secret]"}',
  );
});

test('in base64 at any alignment nothing of it can be read back but a byte at each edge', () => {
  for (const encoding of ['base64', 'base64url'] as const) {
    for (let before = 0; before < 6; before += 1) {
      for (let behind = 0; behind < 4; behind += 1) {
        const whole = Buffer.from(`${'u'.repeat(before)}${password}${'v'.repeat(behind)}`);
        const shown = redacted(whole.toString(encoding), bytewise);
        assert.match(shown, /\[secret\]/, `${before} before, ${behind} behind`);
        assert.ok(shown.replace('[secret]', '').length <= Math.ceil((before + behind) / 3) * 4 + 4, shown);
      }
    }
  }
});

test('however the output is cut into chunks, the result is the same', () => {
  const random = new Random(5);
  const parts = [
    'hunter2',
    'hunter2-and-more',
    'hunter2-and-mor',
    'hunte',
    'tok_AAAAAAAAAAAAAAAA',
    password,
    ' ',
    '\n',
  ];
  for (let round = 0; round < 2_000; round += 1) {
    let text = '';
    for (let left = random.between(1, 12); left > 0; left -= 1)
      text += parts[random.between(0, parts.length - 1)];
    const chunks = (whole: Buffer) => {
      const cut: Buffer[] = [];
      for (let from = 0; from < whole.length; ) {
        const to = from + random.between(1, 9);
        cut.push(whole.subarray(from, to));
        from = to;
      }
      return cut;
    };
    const once = redacted(text);
    assert.equal(redacted(text, chunks), once);
    for (const secret of secrets) assert.ok(!once.includes(secret.reveal()), once);
  }
});

test('a key of several lines is found indented and with other line ends too', () => {
  const lines = [
    '-----BEGIN KEY-----',
    'b3BlbnNzaC1rZXktdjEAAAAABG5v',
    'bmUAAAAEbm9uZQAAAAAAAAABAAAA',
    'AA==',
  ];
  const secret = [new Secret(`${lines.join('\n')}\n`)];
  for (const between of ['\r\n', '\n    ', '\n'])
    assert.doesNotMatch(redactWhole(Buffer.from(`> ${lines.join(between)}`), secret).toString(), /b3Bl|bmUA/);
});

test('it holds back only what may be the beginning of a secret, and nothing where there is none', () => {
  const redactor = createRedactor(secrets);
  const push = (text: string) => redactor.push(Buffer.from(text)).toString();
  assert.equal(push('a line\n'), 'a line\n');
  assert.equal(push('another with hunt'), 'another with ');
  assert.equal(push('ing\nhunter2'), 'hunting\n');
  // It may still become the longer one.
  assert.equal(push('-and'), '');
  assert.equal(push(' less\n'), '[secret]-and less\n');
  const none = createRedactor([new Secret(''), new Secret('abc')]);
  assert.equal(none.push(Buffer.from('abc')).toString(), 'abc');
});

test('64 MB of a build’s output that nearly are secrets take it seconds, not minutes', () => {
  const redactor = createRedactor(
    Array.from({ length: 20 }, (_, index) => new Secret(`secret-value-${index}-abcdefgh`)),
  );
  const chunk = Buffer.alloc(64 * 1024, 'step 12/40: compiling something secret-value- ');
  const taken = processorSeconds(() => {
    for (let left = 1024; left > 0; left -= 1) redactor.push(chunk);
  });
  assert.ok(taken < 20, `${taken} s`);
});
