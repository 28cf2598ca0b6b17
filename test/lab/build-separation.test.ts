import { test } from 'node:test';
import { proveBuildSeparation } from '../support/build-separation.ts';
import { openLab } from '../support/lab.ts';

const lab = await openLab();

test('builds of different environments on one server have nothing in common', (t) =>
  proveBuildSeparation(t, lab, 'provisioned'));
