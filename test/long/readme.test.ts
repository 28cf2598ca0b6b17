/** From `npm start` to a page behind https, by the commands of the README and nothing else. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { getOver } from '../../lab/services/acme.ts';
import { root } from '../../scripts/commands.ts';
import { openLab, rootPassword } from '../support/lab.ts';
import { type Block, npmStart, readmeBlocks } from '../support/readme.ts';
import {
  accountSteps,
  deploymentSteps,
  domainSteps,
  follow,
  promptSteps,
  type Step,
} from '../support/readme-steps.ts';

const lab = await openLab();
const { about, client } = lab;

/** As many providers hand one out: root, with a password. */
async function rented(t: TestContext) {
  const server = await lab.fresh(t, 'docker');
  return { server, password: await rootPassword(server), address: server.about.address };
}

test('a stranger follows the README from nothing to a page behind https', async (t) => {
  const [first, second] = await Promise.all([rented(t), rented(t)]);
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
    '203.0.113.10': first.address,
    'THE PASSWORD OF ROOT': first.password,
    'example.com': zone,
  };
  const ca = await getOver(`${about.acme.management}/roots/0`, about.acme.caFile);
  const at = ({ server, address }: typeof first) => ({
    service,
    place: { lab, server, address, zone, ca, page: /<title>/i },
  });
  const blocks = readmeBlocks();
  const [account, ...others] = blocks.filter(({ heading }) => heading === 'The same by the API');
  assert.ok(account);
  const of = (heading: string) => blocks.filter((each) => each.heading === heading);
  // The account comes first, as the one that the dashboard makes does for a reader.
  const parts: [string, readonly Block[], readonly Step[], typeof first, Record<string, string>][] = [
    ['an account, and a token', [account], accountSteps, first, {}],
    // A server and a project of their own, beside those of the part that follows.
    [
      'the prompt',
      of('The same at the prompt'),
      promptSteps,
      second,
      { 'web-1': 'web-2', Shop: 'Store', '203.0.113.10': second.address },
    ],
    ['the API', others, deploymentSteps, first, {}],
    ['a domain', of('Your own domain, with https'), domainSteps, first, {}],
  ];
  for (const [name, block, steps, where, more] of parts)
    await t.test(name, async () => {
      const commands = block.flatMap((each) => each.commands);
      assert.notEqual(commands.length, 0);
      await follow(service.shell, commands, steps, { ...own, ...more }, at(where));
    });
});
