import { test } from 'node:test';
import { killForwards, killOnTheWayBack } from '../support/journal-kills.ts';
import { OperationBench } from '../support/operations.ts';

test('killed at every point of its journal, each effect happens exactly once and the end is right', async (t) =>
  killForwards(await OperationBench.open(t), 1));

test('killed at every point of its journal on the way back, everything is undone', async (t) =>
  killOnTheWayBack(await OperationBench.open(t), 1));
