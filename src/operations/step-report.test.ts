import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../test/support/until.ts';
import type { News, OperationEvent } from '../events/event-kinds.ts';
import { StepReport } from './step-report.ts';

test('a step that says nothing is told to be alive, and one that speaks is not interrupted', async () => {
  const lines: unknown[] = [];
  const journal = {
    report: async (events: readonly News<OperationEvent>[]) => {
      lines.push(...events.map(({ data }) => Object(data).line));
    },
  };
  const quiet = new StepReport(journal, 'clear', 10);
  await until(() => lines.length >= 2, 'two words of life');
  await quiet.close();
  for (const line of lines) assert.match(String(line), /^Still at «clear», for \d+ s\.$/);

  lines.length = 0;
  const speaking = new StepReport(journal, 'build', 200);
  speaking.log('one');
  const again = setInterval(() => speaking.log('more'), 20);
  await until(() => lines.length > 15, 'more than a quiet time');
  clearInterval(again);
  await speaking.close();
  assert.ok(!lines.some((line) => String(line).startsWith('Still at')), lines.join());
});
