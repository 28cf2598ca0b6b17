import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { settings } from '../src/config.ts';
import { sharedTestApp } from './support/shared-app.ts';

const guide = readFileSync(new URL('../docs/guides/operating.md', import.meta.url), 'utf8');
const part = (heading: string) => guide.split(`\n### ${heading}\n`)[1]?.split(/\n##/)[0] ?? '';

test('the guide to operating lists exactly the metrics that a running instance gives', async () => {
  const service = await sharedTestApp();
  await service.call('GET', '//healthz');
  const { text } = await service.call('GET', '//metrics');
  const given = [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name).sort();
  assert.ok(given.length > 20, text);
  const listed = [...part('Metrics').matchAll(/`(slipway_[a-z0-9_]+)`/g)].map(([, name]) => name).sort();
  assert.deepEqual(listed, given);
  const series = new Set([...text.matchAll(/^(slipway_[a-z0-9_]+)/gm)].map(([, name]) => name));
  // One with labels has no line before something was counted.
  for (const [, name] of text.matchAll(/^# TYPE (\S+) histogram$/gm))
    for (const end of ['bucket', 'count', 'sum']) series.add(`${name}_${end}`);
  const alerted = [...part('Alerts').matchAll(/slipway_[a-z0-9_]+/g)].map(([name]) => name);
  assert.ok(alerted.length > 5);
  for (const name of alerted) assert.ok(series.has(name), `an alert asks for ${name}`);
});

test('the guide to operating names no setting that there is not', () => {
  const known = new Set<string>(Object.values(settings).map(({ env }) => env));
  const named = [...guide.matchAll(/SLIPWAY_[A-Z_]+[A-Z]/g)].map(([name]) => name);
  assert.ok(named.length > 10);
  for (const name of named) assert.ok(known.has(name), name);
});
