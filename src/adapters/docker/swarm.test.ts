import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readNodes } from './swarm.ts';

const answer = (nodes: readonly object[], status = 200) => ({ status, body: nodes, bytes: Buffer.alloc(0) });
const node = (state: string) => ({ ID: state, Version: { Index: 1 }, Spec: {}, Status: { State: state } });

test('a server that a new leader has not heard of is neither up nor down', () => {
  const seen = readNodes(answer(['ready', 'unknown', 'down', 'disconnected'].map(node)));
  assert.deepEqual(
    seen?.map(({ id, isUp, isDown }) => [id, isUp, isDown]),
    [
      ['ready', true, false],
      ['unknown', false, false],
      ['down', false, true],
      ['disconnected', false, true],
    ],
  );
});

test('who is no manager, or reaches no majority, has seen nobody', () => {
  for (const status of [503, 500, 406]) assert.equal(readNodes(answer([], status)), undefined);
});
