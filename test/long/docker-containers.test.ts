import { test } from 'node:test';
import { proveContainers } from '../support/container-proof.ts';
import { openLab } from '../support/lab.ts';

const lab = await openLab();

test('what is asked of Docker is done, and done again does no harm', (t) =>
  proveContainers(t, lab, 'provisioned'));

test('on Debian 12 with its older Docker too, what is asked of it is done, and done again does no harm', (t) =>
  proveContainers(t, lab, 'bookworm'));
