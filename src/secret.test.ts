import assert from 'node:assert/strict';
import { test } from 'node:test';
import { format, inspect } from 'node:util';
import { createLog } from './log.ts';
import { Secret } from './secret.ts';

const text = new Secret('hunter2');
const bytes = new Secret(Buffer.from('hunter2'));
const visible = /hunter2|68 75 6e|104,117|aHVudGVy/;

test('a secret gives its value when it is asked for, and only then', () => {
  assert.equal(text.reveal(), 'hunter2');
  assert.deepEqual(bytes.reveal(), Buffer.from('hunter2'));
});

for (const [kind, secret] of [
  ['text', text],
  ['bytes', bytes],
] as const) {
  test(`a secret of ${kind} is never shown by what prints things`, () => {
    const shown = {
      json: JSON.stringify({ secret, list: [secret] }),
      template: `${secret}`,
      joined: ['a', secret].join(' '),
      added: `a${String(secret)}`,
      inspected: inspect({ secret }, { depth: null, showHidden: true }),
      uncustomised: inspect(secret, { customInspect: false, showHidden: true, depth: null }),
      formatted: format('%s %j %o %O %d', secret, secret, secret, secret, secret),
      thrown: inspect(new Error('failed', { cause: secret })),
      enumerated: JSON.stringify(Object.entries(secret)),
      copied: JSON.stringify({ ...secret }),
    };
    for (const [how, what] of Object.entries(shown)) assert.doesNotMatch(what, visible, how);
    assert.equal(shown.template, '[secret]');
    assert.equal(shown.json, '{"secret":"[secret]","list":["[secret]"]}');
  });

  test(`a secret of ${kind} is never shown in the log`, () => {
    let lines = '';
    const write = (line: string) => {
      lines += line;
    };
    createLog('info', { write }).info({ secret, deep: { under: { secret } } }, 'here: %s', secret);
    assert.match(lines, /here: /);
    assert.doesNotMatch(lines, visible);
  });
}
