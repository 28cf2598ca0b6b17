import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkOf, factsWith } from '../../../../../test/support/security-facts.ts';

const chain = (table: string, name: string, hook: string) => ({
  chain: { family: 'inet', table, name, hook, type: 'filter', prio: -10, policy: 'accept' },
});
const ofApps = [chain('slipway_apps', 'input', 'input'), chain('slipway_apps', 'forward', 'forward')];
const refusal = {
  rule: { family: 'inet', table: 'slipway_apps', chain: 'forward', expr: [{ reject: null }] },
};
const onServer = (items: readonly unknown[], boot = 'slipway-app-network.service enabled enabled') =>
  factsWith({
    docker: '{"version":"26.1.5","liveRestore":true,"security":[],"logging":"local"}',
    dockerd: '{}',
    containers: '',
    dockerd_arguments: '',
    nft: JSON.stringify({ nftables: items }),
    boot_units: boot,
  });

test('a server where nothing keeps applications from metadata and from itself is told apart', () => {
  const statusOf = (facts: ReturnType<typeof onServer>) => checkOf('docker_app_network', facts).status;
  assert.equal(statusOf(onServer([...ofApps, refusal])), 'pass');
  assert.equal(statusOf(onServer([...ofApps, refusal], 'ssh.service enabled')), 'warn');
  assert.equal(statusOf(onServer(ofApps.slice(0, 1))), 'fail');
  assert.equal(
    statusOf(onServer([chain('other', 'input', 'input'), chain('other', 'forward', 'forward')])),
    'fail',
  );
  assert.equal(statusOf(factsWith()), 'not_applicable');
});

test('rules for what comes from containers are none for what is published to the world', () => {
  assert.equal(checkOf('docker_firewall', onServer([...ofApps, refusal])).status, 'warn');
});
