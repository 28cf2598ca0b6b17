import { test } from 'node:test';
import { openLab } from '../support/lab.ts';
import { proveDumps } from '../support/sql-engine-proof.ts';

const lab = await openLab();

test('postgres: a dump is proven by loading it, brings everything back, can be taken back, and ends when nobody reads it', (t) =>
  proveDumps(t, lab, 'postgres'));
