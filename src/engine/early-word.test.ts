import assert from 'node:assert/strict';
import { test } from 'node:test';
import { earlyWord } from './diagnosis.ts';
import type { Probe } from './health-probe.ts';

test('where it listens instead is told early, and only its own port on localhost is given up on', () => {
  const refused: Probe = {
    atMs: 1,
    outcome: 'refused',
    status: null,
    location: null,
    body: '',
    problem: 'connect: refused',
  };
  const word = (...listening: { address: string; port: number }[]) =>
    earlyWord({ wanted: { port: 8080, path: '/' }, probes: [refused], listening, startSeconds: 60 });
  assert.equal(word(), undefined, 'it may still start');
  assert.equal(word({ address: '127.0.0.11', port: 40_000 }), undefined, 'Docker’s own');
  const other = word({ address: '0.0.0.0', port: 3000 });
  assert.match(
    other?.sentence ?? '',
    /listens on port 3000, but it is expected on port 8080.*settings\.port/,
  );
  assert.equal(other?.isFinal, false, 'another one may follow');
  const local = word({ address: '127.0.0.1', port: 8080 });
  assert.match(local?.sentence ?? '', /127\.0\.0\.1:8080 only.*0\.0\.0\.0/);
  assert.equal(local?.isFinal, true);
  assert.equal(word({ address: '127.0.0.1', port: 3000 })?.isFinal, false);
  assert.equal(word({ address: '127.0.0.1', port: 8080 }, { address: '0.0.0.0', port: 8080 }), undefined);
});
