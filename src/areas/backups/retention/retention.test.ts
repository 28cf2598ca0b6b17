import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random } from '../../../../test/support/random.ts';
import { day } from '../../../clock.ts';
import {
  expiredBackups as expired,
  minSafetyBackupMs,
  type RetainedBackup,
  type Retention,
} from './retention.ts';

const now = new Date('2026-06-01T00:00:00Z');

function expiredBackups(all: readonly RetainedBackup[], retention: Retention, at: Date): string[] {
  return expired(all, retention, at).map(({ id }) => id);
}

function backup(daysAgo: number, more: Partial<RetainedBackup> = {}): RetainedBackup {
  return {
    id: `b${daysAgo}`,
    serviceId: null,
    trigger: 'schedule',
    status: 'succeeded',
    verifiedAt: now,
    createdAt: new Date(now.getTime() - daysAgo * day),
    ...more,
  };
}

test('one goes only where both the count and the age allow it', () => {
  const all = [1, 2, 3, 40, 50].map((days) => backup(days));
  assert.deepEqual(expiredBackups(all, { keepLast: 3, keepDays: 30 }, now), ['b40', 'b50']);
  assert.deepEqual(expiredBackups(all, { keepLast: 4, keepDays: 30 }, now), ['b50']);
  assert.deepEqual(expiredBackups(all, { keepLast: 1, keepDays: 60 }, now), []);
});

test('a failed one is no good one: it saves nothing, and goes by its age alone', () => {
  const all = [backup(1, { status: 'failed', verifiedAt: null }), backup(90), backup(100)];
  assert.deepEqual(expiredBackups(all, { keepLast: 1, keepDays: 30 }, now), ['b100']);
  const old = [backup(1), backup(31, { status: 'failed', verifiedAt: null })];
  assert.deepEqual(expiredBackups(old, { keepLast: 1, keepDays: 30 }, now), ['b31']);
});

test('the last verified one stays though newer ones are good', () => {
  const all = [backup(40, { verifiedAt: null }), backup(50, { verifiedAt: null }), backup(60), backup(70)];
  assert.deepEqual(expiredBackups(all, { keepLast: 1, keepDays: 30 }, now), ['b50', 'b70']);
});

test('the backup of one service does not stand for that of all', () => {
  const all = [backup(1, { serviceId: 's1' }), backup(90), backup(91)];
  assert.deepEqual(expiredBackups(all, { keepLast: 1, keepDays: 30 }, now), ['b91']);
});

const triggers = ['manual', 'schedule', 'pre_restore', 'pre_import'] as const;
const statuses = ['succeeded', 'failed', 'verifying'] as const;

test('whatever there is and whatever the settings: what must stay stays, and nothing goes that one of both keeps', () => {
  const random = new Random(20_260_601);
  for (let round = 0; round < 2_000; round += 1) {
    const all = Array.from({ length: random.between(0, 11) }, (_, index) => {
      const status = random.pick(...statuses);
      return backup(random.next() * 60, {
        id: `b${index}`,
        status,
        trigger: random.pick(...triggers),
        serviceId: random.pick(null, 's1'),
        verifiedAt: status === 'succeeded' && random.chance(0.5) ? now : null,
      });
    });
    const retention = { keepLast: random.between(1, 4), keepDays: random.between(1, 30) };
    const gone = new Set(expiredBackups(all, retention, now));
    const age = ({ createdAt }: RetainedBackup) => now.getTime() - createdAt.getTime();
    for (const scope of [null, 's1']) {
      const good = all
        .filter(({ serviceId, status }) => serviceId === scope && status === 'succeeded')
        .sort((one, other) => age(one) - age(other));
      const kept = good.filter(({ id }) => !gone.has(id));
      assert.ok(good.length === 0 || kept[0] === good[0], 'the last good one');
      const verified = good.find(({ verifiedAt }) => verifiedAt !== null);
      assert.ok(!verified || !gone.has(verified.id), 'the last verified one');
      for (const [index, each] of good.entries()) {
        if (!gone.has(each.id)) continue;
        assert.ok(index >= retention.keepLast, 'the count allows it');
        assert.ok(age(each) > retention.keepDays * day, 'the age allows it');
        assert.ok(!each.trigger.startsWith('pre_') || age(each) > minSafetyBackupMs, 'it may be regretted');
      }
    }
    for (const each of all)
      if (each.status === 'verifying') assert.ok(!gone.has(each.id), 'what is being made');
  }
});
