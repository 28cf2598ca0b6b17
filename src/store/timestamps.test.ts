import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { parseTimestamp } from './timestamps.ts';

const driver = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ, 'text');

test('every timestamp is read as the driver reads it', () => {
  const texts = [
    '2026-11-15 03:04:05+00',
    '2026-11-15 03:04:05.1+00',
    '2026-11-15 03:04:05.12+00',
    '2026-11-15 03:04:05.123456+00',
    '2026-02-28 23:59:59.999999+00',
    '1969-12-31 23:59:59.5+00',
    '2026-11-15 03:04:05+05:30',
    '2026-11-15 03:04:05.25-03',
    '0044-03-15 12:00:00+00 BC',
    '12026-11-15 03:04:05+00',
    'infinity',
  ];
  for (const text of texts) assert.deepEqual(parseTimestamp(text), driver(text), text);
});
