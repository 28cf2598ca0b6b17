import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readLogs, readMemory } from './container-output.ts';

function frame(stream: 1 | 2, text: string): Buffer {
  const body = Buffer.from(text);
  const head = Buffer.from([stream, 0, 0, 0, 0, 0, 0, 0]);
  head.writeUInt32BE(body.length, 4);
  return Buffer.concat([head, body]);
}

test('frames become lines of their stream, and what was cut off is left out', () => {
  const bytes = Buffer.concat([
    frame(1, '2026-01-01T00:00:00.1Z one\n'),
    frame(2, '2026-01-01T00:00:00.2Z é two words\n'),
    frame(1, '2026-01-01T00:00:00.3Z \n'),
    frame(1, '2026-01-01T00:00:00.4Z no end'),
    frame(1, 'lost').subarray(0, 10),
  ]);
  assert.deepEqual(readLogs(bytes), [
    { stream: 'stdout', line: 'one', at: '2026-01-01T00:00:00.1Z' },
    { stream: 'stderr', line: 'é two words', at: '2026-01-01T00:00:00.2Z' },
    { stream: 'stdout', line: '', at: '2026-01-01T00:00:00.3Z' },
    { stream: 'stdout', line: 'no end', at: '2026-01-01T00:00:00.4Z' },
  ]);
  assert.deepEqual(readLogs(Buffer.alloc(0)), []);
});

test('memory is told without what the kernel would give back', () => {
  const reply = (status: number, body: unknown) => ({ status, body, bytes: Buffer.alloc(0) });
  const memory = { usage: 100, limit: 1000, stats: { inactive_file: 40 } };
  assert.deepEqual(readMemory(reply(200, { memory_stats: memory })), { usedBytes: 60, limitBytes: 1000 });
  assert.equal(readMemory(reply(200, { memory_stats: {} })), undefined);
  assert.equal(readMemory(reply(404, { message: 'no' })), undefined);
});
