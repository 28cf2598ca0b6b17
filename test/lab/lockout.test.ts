import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lockouts, loginLimitMs } from '../lockout/rounds.ts';
import { openLab } from '../support/lab.ts';

const lab = await openLab();

test('hardening that is broken off at any moment locks nobody out, and the next run ends well', async (t) => {
  const lockouts = new Lockouts(lab.client, lab.about);
  t.after(() => lockouts.end());
  for (let count = 1; count <= 2; count += 1) {
    const { what, loginAfterMs, firstEnd } = await lockouts.round(7, count);
    t.diagnostic(`${count}: ${what}; login after ${loginAfterMs} ms; it ended as ${firstEnd}`);
    assert.ok(loginAfterMs <= loginLimitMs);
  }
});
