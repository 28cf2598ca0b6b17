import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, day, hour, minute } from '../../clock.ts';
import { nextTry, renewalTime } from './renewal-time.ts';

const born = new Date('2026-01-01T00:00:00Z');
const chances = [0, 0.25, 0.5, 0.999];
const daysBefore = (end: Date, at: Date) => (end.getTime() - at.getTime()) / day;

test('a certificate is renewed 30 days ahead or up to three days earlier, never later', () => {
  for (const life of [90, 398]) {
    const notAfter = after(born, life * day);
    for (const chance of chances) {
      const at = renewalTime({ notBefore: born, notAfter, now: born, random: () => chance });
      const ahead = daysBefore(notAfter, at);
      assert.ok(ahead >= 30 && ahead <= 33, `${ahead} days`);
    }
  }
  const at = (chance: number) =>
    renewalTime({ notBefore: born, notAfter: after(born, 90 * day), now: born, random: () => chance });
  assert.notEqual(at(0).getTime(), at(0.5).getTime());
});

test('a short life is renewed after two thirds of it', () => {
  for (const lifeMs of [45 * day, 6 * day, 5 * minute]) {
    const notAfter = after(born, lifeMs);
    for (const chance of chances) {
      const at = renewalTime({ notBefore: born, notAfter, now: born, random: () => chance });
      const part = (at.getTime() - born.getTime()) / lifeMs;
      assert.ok(part > 0.63 && part <= 2 / 3 + 1e-9, `${part}`);
    }
  }
});

test('what is overdue is renewed within minutes and not all at once, and at once when it has ended', () => {
  const notAfter = after(born, 90 * day);
  const now = after(born, 80 * day);
  const at = chances.map((chance) => renewalTime({ notBefore: born, notAfter, now, random: () => chance }));
  for (const each of at) assert.ok(each >= now && each < after(now, 10 * minute));
  assert.equal(new Set(at.map(Number)).size, chances.length);
  const late = after(notAfter, day);
  assert.equal(renewalTime({ notBefore: born, notAfter, now: late, random: () => 0.9 }), late);
});

test('however often it fails, no hour sees five tries, and none is further away than half a day and an hour', () => {
  for (const chance of chances) {
    let now = born;
    const tries = [now];
    for (let failures = 1; failures < 40; failures++) {
      const next = nextTry({ failures, now, random: () => chance });
      assert.ok(next > now && next.getTime() - now.getTime() <= 13 * hour);
      tries.push(next);
      now = next;
    }
    for (const [index, first] of tries.entries()) {
      const fifth = tries[index + 4];
      assert.ok(!fifth || fifth.getTime() - first.getTime() > hour, `try ${index + 1}`);
    }
  }
});

test('what the authority says is kept to, unless it is beyond all limits', () => {
  for (const chance of chances) {
    const ask = (retryAfterSeconds: number, failures = 1) =>
      nextTry({ failures, retryAfterSeconds, now: born, random: () => chance }).getTime() - born.getTime();
    assert.ok(ask(3600) >= hour && ask(3600) < 1.2 * hour);
    assert.ok(ask(10) >= 2 * minute, 'its own wait is the least');
    assert.ok(ask(1e12) <= 7 * day + hour);
    for (const odd of [Number.NaN, -5, Number.POSITIVE_INFINITY]) assert.ok(ask(odd) >= 2 * minute);
    assert.ok(ask(0, Number.NaN) >= 2 * minute);
  }
});
