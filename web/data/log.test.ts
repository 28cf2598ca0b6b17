import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Log } from './log.ts';

const lines = 125_000;

test('a log that has no end keeps its last 100,000 lines under their numbers', async () => {
  const log = new Log();
  for (let at = 0; at < lines; at += 1)
    await log.add({ source: at < 120_000 ? 'web' : 'worker', text: `${at}` });
  assert.equal(log.end, lines);
  assert.ok(log.end - log.first >= 100_000 && log.end - log.first <= 110_000, `${log.first} is the first`);
  assert.equal(log.at(log.first - 1), undefined);
  assert.equal(log.at(log.first)?.text, String(log.first));
  assert.equal(
    log.findLast(({ source }) => source === 'web'),
    119_999,
  );
  let next = log.first;
  for await (const slice of log.slices()) {
    assert.equal(slice.from, next);
    assert.equal(slice.lines[0]?.text, String(slice.from));
    assert.ok(slice.lines.length <= 5_000);
    next += slice.lines.length;
  }
  assert.equal(next, lines);
});
