import assert from 'node:assert/strict';
import { createConnection, type LookupFunction } from 'node:net';
import { test } from 'node:test';
import { apiFaultCodes, errorCode, errorText, Fault, startFaultCodes } from './fault.ts';

test('every code is snake_case, stands in one list only, and is described by a sentence', () => {
  const all = [...Object.entries(apiFaultCodes), ...Object.entries(startFaultCodes)];
  assert.equal(new Set(all.map(([code]) => code)).size, all.length);
  for (const [code, meaning] of all) {
    assert.match(code, /^[a-z]+(_[a-z]+)*$/);
    assert.match(meaning, /^[A-Z`].*\.$/, code);
  }
});

test('a fault carries its code, sentence, hint, evidence and cause', () => {
  const cause = new Error('inner');
  const errors = [{ path: 'name', message: 'is missing' }];
  const fault = new Fault('invalid_input', 'No.', { hint: 'h', evidence: 'e', errors, cause });
  assert.equal(fault.message, 'No.');
  assert.deepEqual([fault.code, fault.hint, fault.evidence], ['invalid_input', 'h', 'e']);
  assert.deepEqual(fault.errors, errors);
  assert.equal(fault.cause, cause);
  assert.equal('cause' in new Fault('not_found', 'No.'), false);
});

test('the code of an error is read where there is one, whatever was thrown', () => {
  assert.equal(errorCode(Object.assign(new Error(), { code: 'EPIPE' })), 'EPIPE');
  for (const thrown of [undefined, null, 'EPIPE', new Error('EPIPE'), { code: 7 }]) {
    assert.equal(errorCode(thrown), undefined);
  }
});

test('everything that can be thrown has a text', () => {
  assert.equal(errorText(new Error('why')), 'why');
  assert.equal(errorText('why'), 'why');
  assert.equal(errorText(undefined), 'undefined');
  assert.equal(errorText({ message: 'why', queue: 'wake' }), 'why');
});

test('a name with several addresses that all refuse has a text that says so', async () => {
  // Node tries all of them and joins the failures in one error, whose own message is empty.
  const lookup: LookupFunction = (_host, _options, found) =>
    found(null, [
      { address: '127.0.0.1', family: 4 },
      { address: '127.0.0.2', family: 4 },
    ]);
  const error = await new Promise<Error>((resolve) => {
    createConnection({ host: 'two.example', port: 1, lookup }).once('error', resolve);
  });
  assert.match(errorText(error), /ECONNREFUSED/);
});
