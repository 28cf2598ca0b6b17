import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Campaign } from '../kill/rounds.ts';
import { Random } from '../support/random.ts';

const kills = 10;
const seed = 1;

test('whatever is killed at whatever moment, the service comes back with every write that it acknowledged', async (t) => {
  const campaign = new Campaign(new Random(seed));
  t.after(() => campaign.end());
  for (let count = 1; count <= kills; count += 1) {
    const { what, losses } = await campaign.round();
    assert.deepEqual(losses, [], `kill ${count} of seed ${seed}: ${what}`);
    t.diagnostic(`${count}: ${what}`);
  }
  assert.ok(campaign.acknowledged >= 2 * (kills - 1), 'nothing was written, so nothing was proven');
});

test('the same seed gives the same numbers, and another one others', () => {
  const numbers = (of: number) => {
    const random = new Random(of);
    return Array.from({ length: 50 }, () => random.between(0, 1000));
  };
  assert.deepEqual(numbers(seed), numbers(seed));
  assert.notDeepEqual(numbers(seed), numbers(seed + 1));
  assert.ok(numbers(seed).every((each) => each >= 0 && each <= 1000));
});
