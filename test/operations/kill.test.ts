import { test } from 'node:test';
import { killForwards, killOnTheWayBack } from '../support/journal-kills.ts';
import { OperationBench } from '../support/operations.ts';

// Odd, so that both sides of a write get their turn. Every single point is tried by test/long/operation-kills.test.ts.
const every = 7;

test('killed at points of its journal, each effect happens exactly once and the end is right', async (t) =>
  killForwards(await OperationBench.open(t), every));

test('killed at points of its journal on the way back, everything is undone', async (t) =>
  killOnTheWayBack(await OperationBench.open(t), every));
