import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crashWords } from './crash-words.ts';
import { diagnose } from './diagnosis.ts';
import { readProbe } from './health-probe.ts';

const missing = ['MAIL_KEY', 'STRIPE_KEY'];

test('a variable without a value that the last lines name is the cause', () => {
  const { hint } = crashWords(1, ["KeyError: 'STRIPE_KEY'"], missing);
  assert.match(hint, /^Its last lines name STRIPE_KEY, which has no value: set it among the variables/);
});

test('variables without a value are told where nothing names them, and not instead of a known cause', () => {
  const unknown = crashWords(1, ['MY_STRIPE_KEYS'], missing).hint;
  assert.match(unknown, /last lines say why\..* It also asks for MAIL_KEY, STRIPE_KEY, which have no value/);
  const refused = crashWords(1, ['connect ECONNREFUSED 127.0.0.1:5432'], missing).hint;
  assert.match(refused, /^It could not reach a service.*MAIL_KEY/);
});

test('no variable would have helped one that was killed or could not begin', () => {
  for (const code of [126, 127, 137, 139])
    assert.doesNotMatch(crashWords(code, [], missing).hint, /MAIL_KEY/, String(code));
});

test('an app that answers with an error is told what has no value', () => {
  const answer = { atMs: 1, isMet: false, problem: null, bytes: Buffer.from('HTTP/1.1 500 E\r\n\r\n') };
  const { hint } = diagnose({
    wanted: { port: 3000, path: '/' },
    probes: [readProbe(answer)],
    containers: [],
    listening: [],
    lastLines: [],
    missing: ['MAIL_KEY'],
    memoryMb: 512,
    mostMemoryMb: 2_048,
    startSeconds: 30,
  });
  assert.match(hint ?? '', /MAIL_KEY, which has no value/);
});
