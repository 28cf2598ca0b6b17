import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EnvironmentId, newId } from '../../ids.ts';
import type { SeenFront } from '../engine.ts';
import { commonFronts } from './proxies.ts';

const id = newId<EnvironmentId>();

function seen(addresses: readonly string[], agrees = true): SeenFront {
  const servers = addresses.map((address) => ({ name: `web-${address}`, address, port: 22_000 }));
  const file = { state: 'serving', port: 21_000, servers, hosts: [], routes: [] } as const;
  return { id, file, running: null, agrees };
}

test('a front agrees only where every proxy has it, alike, and does what its file says', () => {
  const agrees = (...proxies: (readonly SeenFront[])[]) => commonFronts(proxies).map((each) => each.agrees);
  const both = seen(['10.0.0.1', '10.0.0.2']);
  assert.deepEqual(agrees([both], [both], [both]), [true]);
  assert.deepEqual(agrees([both], [seen(['10.0.0.2', '10.0.0.1'])]), [true], 'in whichever order');
  assert.deepEqual(agrees([both], [seen(['10.0.0.1'])]), [false], 'one has missed a move');
  assert.deepEqual(agrees([both], []), [false], 'one has come back without it');
  assert.deepEqual(agrees([both], [seen(['10.0.0.1', '10.0.0.2'], false)]), [false]);
  assert.deepEqual(agrees([], []), []);
});
