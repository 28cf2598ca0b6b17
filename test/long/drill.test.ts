import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FaultKind } from '../drill/faults.ts';
import { Scene } from '../drill/scene.ts';
import { planWave, Waves } from '../drill/wave.ts';
import { openLab } from '../support/lab.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { Random } from '../support/random.ts';

const lab = await openLab();
/** The seeds are chosen for kills and cuts among the faults, and for nothing that takes long. */
const waves = [
  { what: 'deployments and backups', lanes: ['app', 'data'], seed: 13 },
  { what: 'deployments on a cluster', lanes: ['cluster'], seed: 12 },
] as const;

for (const { what, lanes, seed } of waves)
  test(`a wave of ${what} with faults in the middle ends consistent, without a failed request`, async (t) => {
    const databaseUrl = await createTestDatabase();
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
