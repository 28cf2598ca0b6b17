import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SwarmNode } from '../../engine/swarm/nodes.ts';
import { newId, type ServerId } from '../../ids.ts';
import { judgeCluster, type KnownMember } from './judge-cluster.ts';

const member = (name: string): KnownMember => ({
  serverId: newId<ServerId>(),
  name,
  nodeId: `node-${name}`,
  role: 'manager',
});
const nodeOf = ({ nodeId }: KnownMember, is: Partial<SwarmNode> = {}): SwarmNode => ({
  id: nodeId ?? '',
  version: 1,
  labels: {},
  isManager: true,
  isLeader: false,
  isCounted: true,
  isReachable: true,
  isUp: true,
  isDown: false,
  availability: 'active',
  changedAt: new Date(0),
  ...is,
});
const [web1, web2, web3] = [member('web-1'), member('web-2'), member('web-3')];
const all = [web1, web2, web3];
const ids = (members: readonly KnownMember[]) => members.map(({ serverId }) => serverId);

test('all up is ready, and each member is told as its node is', () => {
  const nodes = [nodeOf(web1, { isLeader: true }), nodeOf(web2, { availability: 'drain' }), nodeOf(web3)];
  const { status, problem, members } = judgeCluster(all, nodes, ids([web1]));
  assert.deepEqual([status, problem], ['ready', null]);
  assert.deepEqual(
    members.map(({ isLeader, availability }) => [isLeader, availability]),
    [
      [true, 'active'],
      [false, 'drain'],
      [false, 'active'],
    ],
  );
});

test('a server of which a new leader has not heard yet is not down', () => {
  const unheard = judgeCluster(all, [nodeOf(web1), nodeOf(web2, { isUp: false }), nodeOf(web3)], ids([web1]));
  assert.equal(unheard.status, 'ready');
});

test('a server that is down, or has left by another hand, is named with the way out', () => {
  const isDown = { isUp: false, isDown: true };
  const down = judgeCluster(all, [nodeOf(web1), nodeOf(web2, isDown), nodeOf(web3)], ids([web1]));
  assert.equal(down.status, 'degraded');
  assert.equal(down.problem?.message, 'web-2 is down.');
  assert.match(down.problem?.hint ?? '', /lost=true/);
  const gone = judgeCluster(all, [nodeOf(web1), nodeOf(web2)], ids([web1]));
  assert.equal(gone.problem?.message, 'web-3 has left the swarm, and not by Slipway.');
});

test('lost majorities are told apart from servers that nobody reaches, with who has to come back', () => {
  const noMajority = judgeCluster(all, null, ids([web1]));
  assert.equal(noMajority.status, 'no_quorum');
  assert.match(noMajority.problem?.message ?? '', /^1 of 3 managers answer, and 2 are needed/);
  assert.match(noMajority.problem?.hint ?? '', /^Start one of web-2, web-3 again\./);
  const nobody = judgeCluster(all, null, []);
  assert.equal(nobody.status, 'unreachable');
  assert.match(nobody.problem?.message ?? '', /web-1, web-2, web-3/);
});
