import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ManagerCandidate,
  majorityOf,
  managersWanted,
  planManagers,
  quorumInWords,
} from './managers.ts';

const node = (id: string, is: Partial<Omit<ManagerCandidate, 'id'>> = {}): ManagerCandidate => ({
  id,
  isManager: false,
  isLeader: false,
  isUp: true,
  isLost: false,
  ...is,
});
const leader = node('a', { isManager: true, isLeader: true });
const manager = (id: string, is: Partial<ManagerCandidate> = {}) => node(id, { isManager: true, ...is });

test('one manager up to two servers, three up to six, then five', () => {
  const wanted = [1, 2, 3, 4, 6, 7, 20].map(managersWanted);
  assert.deepEqual(wanted, [1, 1, 3, 3, 3, 5, 5]);
  assert.deepEqual([1, 3, 5].map(majorityOf), [1, 2, 3]);
});

test('a cluster that grows gets managers, one that shrinks loses those that do not lead', () => {
  assert.deepEqual(planManagers([leader, node('b'), node('c')]), { promote: ['b', 'c'], demote: [] });
  assert.deepEqual(planManagers([leader, node('b')]), { promote: [], demote: [] });
  assert.deepEqual(planManagers([manager('b'), leader]), { promote: [], demote: ['b'] });
  const away = manager('b', { isUp: false });
  assert.deepEqual(planManagers([away, leader, manager('c'), manager('d'), node('e')]).demote, ['b']);
});

test('a manager that is lost is replaced, and stays one where nobody can take its place', () => {
  const lost = manager('c', { isUp: false, isLost: true });
  const all = [leader, manager('b'), lost];
  assert.deepEqual(planManagers(all), { promote: [], demote: [] });
  assert.deepEqual(planManagers([...all, node('d')]), { promote: ['d'], demote: ['c'] });
  assert.deepEqual(planManagers([...all, node('d', { isUp: false })]), { promote: [], demote: [] });
  // Away for a moment, as in a reboot: nobody is moved.
  assert.deepEqual(planManagers([leader, manager('b'), manager('c', { isUp: false }), node('d')]), {
    promote: [],
    demote: [],
  });
});

test('what the managers can still stand is told in words', () => {
  assert.equal(quorumInWords(3, 3), '3 of 3 managers answer; one more may be lost.');
  assert.equal(quorumInWords(5, 5), '5 of 5 managers answer; 2 more may be lost.');
  assert.match(quorumInWords(3, 2), /^2 of 3 managers answer; if one more is lost, nothing can be changed/);
  assert.match(quorumInWords(1, 1), /^The only manager answers; if one more is lost/);
  assert.match(quorumInWords(3, 1), /^Only 1 of 3 managers answer, and 2 are needed: what runs goes on/);
  assert.match(quorumInWords(1, 0), /^The only manager does not answer: what runs goes on/);
  assert.equal(quorumInWords(0, 0), 'The cluster has no manager yet.');
});
