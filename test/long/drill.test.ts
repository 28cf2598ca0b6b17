import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FaultKind } from '../drill/faults.ts';
import { Scene } from '../drill/scene.ts';
import { planWave, Waves } from '../drill/wave.ts';
import { openLab } from '../support/lab.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { Random } from '../support/random.ts';

const lab = await openLab();
/** Chosen for kills and cuts among its faults, and for nothing that takes long. */
const seed = 13;

test('a wave of deployments and backups with faults in the middle ends consistent, without a failed request', async (t) => {
  const databaseUrl = await createTestDatabase();
  const lanes = ['app', 'data'] as const;
  const scene = await Scene.open(lab.client, lab.about, { url: databaseUrl }, lanes);
  const caused: FaultKind[] = [];
  const waves = new Waves(scene, { caused: (kind) => caused.push(kind), tell: () => undefined });
  t.after(async () => {
    waves.endNow();
    await scene.close();
  });
  const plan = planWave(new Random(seed), { lanes, least: 5, most: 5, hasOutage: false });
  const { operations, answered, ms } = await waves.run(plan, 'short');
  assert.equal(caused.length, plan.faults.length);
  assert.ok(operations.length >= 2);
  t.diagnostic(`${caused.join(', ')}: ${operations.length} operations, ${answered} answered, ${ms} ms`);
});
