/** From `npm start` to a page behind https, by the commands of the README and nothing else. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { getOver } from '../../lab/services/acme.ts';
import { root } from '../../scripts/commands.ts';
import { openLab, rootPassword } from '../support/lab.ts';
import { npmStart, readmeBlocks, Shell } from '../support/readme.ts';
import { accountSteps, deploymentSteps, domainSteps, follow } from '../support/readme-steps.ts';

const lab = await openLab();
const { about, client } = lab;

test('a stranger follows the README from nothing to a page behind https', async (t) => {
  const server = await lab.fresh(t, 'docker');
  const { address } = server.about;
  const password = await rootPassword(server);
  const repository = await client.call<{ cloneUrl: string }>('POST', '/git/repositories', {
    owner: about.git.login,
    name: `readme-${process.pid}`,
    private: false,
    from: join(root, 'lab/apps/static-page'),
  });
  const service = await npmStart(t, {
    SLIPWAY_DNS_SERVERS: `${about.dns.address}:${about.dns.port}`,
    SLIPWAY_ACME_DIRECTORY: about.acme.directory,
    SLIPWAY_ACME_CA_FILE: about.acme.caFile,
    SLIPWAY_ALLOW_PRIVATE_EGRESS: 'on',
  });
  const zone = `readme-${process.pid}.${about.dns.zone}`;
  const own = {
    'http://127.0.0.1:4400': service.url,
    'https://git.example.com/ada/shop.git': repository.cloneUrl,
    '203.0.113.10': address,
    'THE PASSWORD OF ROOT': password,
    'example.com': zone,
  };
  const ca = await getOver(`${about.acme.management}/roots/0`, about.acme.caFile);
  const world = { service, place: { lab, address, zone, ca, page: /<title>/i } };
  const shell = new Shell(t);
  const blocks = readmeBlocks();
  const parts = {
    'Your first account in one minute': accountSteps,
    'Your first deployment in five minutes': deploymentSteps,
    'Your own domain, with https': domainSteps,
  };
  for (const [heading, steps] of Object.entries(parts)) {
    await t.test(heading, async () => {
      const commands = blocks.filter((each) => each.heading === heading).flatMap((each) => each.commands);
      assert.notEqual(commands.length, 0);
      await follow(shell, commands, steps, own, world);
    });
  }
});
