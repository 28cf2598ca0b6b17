import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesOf, Inspected } from '../support/inspected.ts';
import { openLab } from '../support/lab.ts';
import { installing } from '../support/packages.ts';

const lab = await openLab();

test('a firewall counts when it really refuses, on each protocol by itself', async (t) => {
  const inspected = new Inspected(t, await lab.shared('bare'));
  await inspected.sh(installing('nftables'));
  const rules = (family: string, policy: string) =>
    inspected.sh(`nft flush ruleset; nft add table ${family} guard
nft 'add chain ${family} guard in { type filter hook input priority 0; policy ${policy}; }'
nft add rule ${family} guard in ct state established,related accept
nft add rule ${family} guard in iif lo accept
nft add rule ${family} guard in tcp dport 22 accept`);
  const firewall = async () => {
    const { firewall_active, firewall_ipv6, firewall_at_boot } = await inspected.statuses();
    return [firewall_active, firewall_ipv6, firewall_at_boot];
  };
  assert.deepEqual(await firewall(), ['fail', 'not_applicable', 'not_applicable']);
  await rules('ip', 'drop');
  assert.deepEqual(await firewall(), ['pass', 'not_applicable', 'warn']);
  await inspected.sh('ip addr add fd00:213::5/64 dev host0 nodad; systemctl enable nftables 2>/dev/null');
  assert.deepEqual(await firewall(), ['pass', 'fail', 'pass']);
  await rules('inet', 'drop');
  assert.deepEqual(await firewall(), ['pass', 'pass', 'pass']);
  await rules('inet', 'accept');
  assert.deepEqual(await firewall(), ['fail', 'fail', 'not_applicable']);
});

test('a port that Docker publishes answers in spite of ufw, until DOCKER-USER refuses it', async (t) => {
  const inspected = new Inspected(t, await lab.fresh(t, 'docker'));
  await inspected.sh(`${installing('ufw')}ufw allow 22/tcp >/dev/null; ufw --force enable >/dev/null`);
  await inspected.sh('docker run --quiet --detach --name web --publish 8080:80 nginx >/dev/null');
  const before = await inspected.statuses();
  const { firewall_active, firewall_at_boot, open_ports, docker_published_ports, docker_firewall } = before;
  assert.deepEqual([firewall_active, firewall_at_boot], ['pass', 'pass']);
  assert.deepEqual([open_ports, docker_published_ports, docker_firewall], ['fail', 'fail', 'warn']);
  await inspected.sh('iptables -I DOCKER-USER -i host0 -m conntrack --ctstate NEW -j DROP');
  assert.deepEqual(changesOf(before, await inspected.statuses()), {
    open_ports: 'pass',
    docker_published_ports: 'pass',
    docker_firewall: 'pass',
  });
});
