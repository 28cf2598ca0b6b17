/** The README keeps its word: its commands are taken out of it and run. Those that need a server are in test/long/readme.test.ts. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { root } from '../scripts/commands.ts';
import { settings } from '../src/config.ts';
import { npmStart, readmeBlocks } from './support/readme.ts';
import {
  accountSteps,
  deploymentSteps,
  domainSteps,
  follow,
  promptSteps,
  type Step,
} from './support/readme-steps.ts';
import { hangMs, until } from './support/until.ts';

const blocks = readmeBlocks();

/** Which commands there are, and what runs each of them. */
const known: Readonly<Record<string, readonly (readonly [command: string, by: string])[]>> = {
  'Start it': [['npm start', 'test/readme.test.ts']],
  'The same at the prompt': runBy('test/long/readme.test.ts', promptSteps),
  'The same by the API': [
    ...runBy('test/readme.test.ts', accountSteps),
    ...runBy('test/long/readme.test.ts', deploymentSteps),
  ],
  'Your own domain, with https': runBy('test/long/readme.test.ts', domainSteps),
  'See it without renting a server': [
    ['npm run demo ', 'test/long/demo.test.ts'],
    ['npm run demo -- down', 'test/long/demo.test.ts'],
    ['npm run lab -- up', 'test/long/traces.test.ts'],
    ['npm run lab -- ssh s1', 'test/long/traces.test.ts'],
    ['npm run lab -- down', 'test/long/traces.test.ts'],
  ],
  'Work on it': [['npm test', 'scripts/test.ts']],
};

function runBy(file: string, steps: readonly Step[]): (readonly [string, string])[] {
  return steps.map(({ begins }) => [begins, file]);
}

test('every command of the README is run by a test, in its order, and no test waits for one that is gone', () => {
  const headings = [...new Set(blocks.map(({ heading }) => heading))];
  assert.deepEqual(headings, Object.keys(known));
  for (const heading of headings) {
    const commands = blocks.filter((each) => each.heading === heading).flatMap((each) => each.commands);
    const expected = known[heading] ?? [];
    assert.equal(commands.length, expected.length, `${heading}: ${commands.join('\n')}`);
    for (const [at, [begins, by]] of expected.entries()) {
      assert.ok(commands[at]?.startsWith(begins), `«${commands[at]}» is not «${begins}»`);
      assert.ok(existsSync(join(root, by)), by);
    }
  }
});

test('every file that the README and the documents lead to is there', () => {
  const documents = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md', { cwd: root })];
  let count = 0;
  for (const document of documents) {
    const links = [...readFileSync(join(root, document), 'utf8').matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)];
    for (const [, path = ''] of links)
      assert.ok(existsSync(join(root, dirname(document), path)), `${document} leads to ${path}`);
    count += links.length;
  }
  assert.ok(count > 50);
});

test('every proof that the promises and the threats stand on is there', () => {
  const read = (document: string) => readFileSync(join(root, document), 'utf8');
  const promises = read('docs/architecture.md').split('## What the promises stand on')[1] ?? '';
  for (const [text, atLeast] of [[promises, 30] as const, [read('docs/THREATS.md'), 30] as const]) {
    const proofs = [...text.matchAll(/`((?:test|src)\/[^`]+)`/g)].flatMap(([, path = '']) => {
      const [, before = path, names = '', after = ''] = /^(.*)\{(.*)\}(.*)$/.exec(path) ?? [];
      return names.split(',').map((name) => `${before}${name}${after}`);
    });
    assert.ok(proofs.length > atLeast);
    for (const path of proofs)
      assert.ok(
        ['', '.test.ts'].some((end) => existsSync(join(root, path + end))),
        path,
      );
  }
});

test('`npm start`, then a first account by the commands of the README', async (t) => {
  const service = await npmStart(t);
  const { shell } = service;
  const address = `http://${settings.host.standard}:${settings.port.standard}`;
  const own = { [address]: service.url, 'example.com': 'readme.test' };
  const home = await fetch(`${service.url}/`, { headers: { accept: 'text/html' } });
  assert.match(await home.text(), /<title>Slipway<\/title>/, 'the address itself leads to the dashboard');
  const [account] = blocks.filter(({ heading }) => heading === 'The same by the API');
  assert.ok(account);
  assert.ok(account.commands[0]?.includes(address), 'where `npm start` serves by itself');
  await follow(shell, account.commands, accountSteps, own, { service });
  // What the rest of the README and the guides work with does not end in the middle of them.
  assert.match(await shell.run('echo "$auth"'), /^authorization: Bearer slw_\w{38}\n/);
  assert.equal((await fetch(`${service.url}/api/docs`)).status, 200);
  assert.ok(existsSync(join(service.folder, 'data/outbox')), 'mail is written there too');
  assert.equal(await service.interrupt(), 0, service.said());
  await until(() => service.said().endsWith('Stopped.\n'), `a word of farewell: ${service.said()}`);
});

test('every loop of the README ends where something fails: an answer that is none, a token that is over, a problem', async () => {
  const loops = blocks.flatMap(({ commands }) => commands).filter((each) => /^(while|until)\b/.test(each));
  assert.ok(loops.length > 0);
  const answers = [
    ['fails', '{"status":401,"code":"unauthenticated"}'],
    ['works', '{"status":"pending","problem":{"code":"login_refused"}}'],
    ['works', '{"status":"ready","problem":null}'],
  ] as const;
  for (const loop of loops)
    for (const [how, answer] of answers) {
      // Like curl: with `-f`, an answer that is an error is not printed.
      const curl = `curl() { if [ ${how} = fails ]; then case $1 in *f*) return 22;; esac; fi; printf %s '${answer}'; }`;
      const ended = spawnSync('bash', ['-c', `${curl}\nsleep() { exit 9; }\n${loop}`], { timeout: hangMs });
      assert.deepEqual([ended.status, ended.signal], [0, null], `«${loop}» goes on after ${answer}`);
    }
});
