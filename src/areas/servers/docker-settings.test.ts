import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fault } from '../../fault.ts';
import { missingSettings } from './docker-settings.ts';

const ours = {
  'live-restore': true,
  'log-driver': 'json-file',
  'log-opts': { 'max-size': '10m', 'max-file': '3' },
};

test('an engine without settings gets all of ours, and the second look adds nothing', () => {
  for (const text of ['', '  \n', '{}']) assert.deepEqual(missingSettings(text).added, ours);
  assert.deepEqual(missingSettings(JSON.stringify(ours)).added, {});
});

test('what someone has set is never set again, whatever it says', () => {
  const without = (...names: string[]) =>
    Object.fromEntries(Object.entries(ours).filter(([name]) => !names.includes(name)));
  assert.deepEqual(missingSettings('{"live-restore":false}').added, without('live-restore'));
  assert.deepEqual(missingSettings('{"log-driver":"local"}').added, { 'live-restore': true });
  assert.deepEqual(missingSettings('{"log-opts":{"max-size":"1g"}}').added, { 'live-restore': true });
  assert.deepEqual(missingSettings('{"log-driver":"json-file"}').added, ours);
  const { before, added } = missingSettings('{"dns":["192.0.2.1"],"live-restore":true}');
  assert.deepEqual({ ...before, ...added }, { ...ours, dns: ['192.0.2.1'] });
});

test('a file that is no JSON object is left alone, and a person is told', () => {
  for (const text of ['{', '[]', 'null', '"a"', '{"live-restore":true,}']) {
    assert.throws(
      () => missingSettings(text),
      (error) =>
        error instanceof Fault && error.code === 'remote_failed' && /daemon\.json/.test(error.message),
      text,
    );
  }
});
