import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { createLog } from './log.ts';
import { readableLine } from './readable-log.ts';

function shown(write: (log: ReturnType<typeof createLog>) => void): string {
  let text = '';
  write(
    createLog('info', {
      write: (line) => {
        text += readableLine(line);
      },
    }),
  );
  return stripVTControlCharacters(text);
}

test('a request is one short line, and what else is told has its fields and its stack', () => {
  const request = { requestId: 'x', method: 'GET', route: '/api/v1/servers', status: 404, ms: 12, ip: '::1' };
  assert.match(
    shown((log) => log.child({}, { redact: [] }).info({ ...request, code: 'not_found' }, 'request')),
    /^\d\d:\d\d:\d\d GET \/api\/v1\/servers 404 not_found 12 ms\n$/,
  );
  assert.match(
    shown((log) => log.warn({ reason: 'it is gone', count: 2 }, 'could not look')),
    /^\d\d:\d\d:\d\d warn could not look reason=it is gone count=2\n$/,
  );
  assert.match(
    shown((log) => log.error({ err: new Error('broken') }, 'request failed')),
    /error request failed\nError: broken\n {4}at /,
  );
});

test('what is secret in a log for programs is secret at a terminal', () => {
  assert.doesNotMatch(
    shown((log) => log.info({ password: 'hunter2' }, 'signed in')),
    /hunter2/,
  );
});
