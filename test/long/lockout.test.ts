import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lockouts, loginLimitMs } from '../lockout/rounds.ts';
import { openLab } from '../support/lab.ts';

const lab = await openLab();

test('hardening that is broken off at any moment locks nobody out, and the next run ends well', async (t) => {
  const lockouts = new Lockouts(lab.client, lab.about);
  t.after(() => lockouts.end());
  const { what, loginAfterMs, firstEnd } = await lockouts.round(7, 1);
  t.diagnostic(`${what}; login after ${loginAfterMs} ms; it ended as ${firstEnd}`);
  assert.ok(loginAfterMs <= loginLimitMs);
});
