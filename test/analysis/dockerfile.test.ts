import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { analyse } from '../../src/analysis/analysis.ts';
import { filesToRead, generateDockerfile } from '../../src/analysis/dockerfile/generate-dockerfile.ts';
import { MemoryTree } from '../../src/analysis/tree.ts';
import { Fault } from '../../src/fault.ts';
import { hangMs } from '../support/until.ts';
import { type Case, cases, generate, repositoryOf } from './dockerfile/cases.ts';
import { cases as languages } from './dockerfile/language-cases.ts';
import { readFixtures } from './fixtures.ts';

const goldens = new URL('./dockerfile/goldens/', import.meta.url);
const all = [...cases, ...languages];

/** With UPDATE_GOLDENS=1 the files are written instead; look at what changed before you commit it. */
function assertGolden(name: string, text: string): void {
  const file = new URL(name, goldens);
  if (process.env.UPDATE_GOLDENS === '1') writeFileSync(file, text);
  assert.equal(text, existsSync(file) ? readFileSync(file, 'utf8') : `(there is no ${name})`);
}

function caseOf(name: string): Case {
  const found = all.find((each) => each.name === name);
  assert.ok(found, name);
  return found;
}

for (const each of all) {
  test(`the Dockerfile of ${each.name} is the one that was looked at`, () => {
    assertGolden(`${each.name}.Dockerfile`, generate(each).dockerfile);
  });
}

test('every golden file belongs to a case', () => {
  const names = new Set(all.map(({ name }) => `${name}.Dockerfile`));
  const others = readdirSync(goldens).filter((name) => name.endsWith('.Dockerfile') && !names.has(name));
  assert.deepEqual(others, []);
});

test('every image runs as a number that is not root, and starts a list of words', () => {
  for (const each of all) {
    const last =
      generate(each)
        .dockerfile.split(/^FROM /m)
        .at(-1) ?? '';
    const users = [...last.matchAll(/^USER (\d+):(\d+)$/gm)].map(([, user]) => user);
    assert.ok(users.length === 1 && users[0] !== '0', each.name);
    const command = /^CMD (\[.*\])$/m.exec(last)?.[1] ?? '';
    assert.ok(
      JSON.parse(command).every((word: unknown) => typeof word === 'string'),
      each.name,
    );
  }
});

test('a secret is a file of the step that needs it, never an argument or a variable of the image', () => {
  for (const each of all) {
    const options = { ...each.options, buildVariables: [{ key: 'DEPLOY_TOKEN', secret: true }] };
    const { dockerfile } = generate({ ...each, options });
    assert.doesNotMatch(dockerfile, /^(ARG|ENV|COPY).*DEPLOY_TOKEN/m, each.name);
    for (const mount of dockerfile.matchAll(/^.*type=secret.*$/gm)) {
      assert.match(mount[0], /type=secret,id=DEPLOY_TOKEN,required=true/);
    }
  }
});

test('an explanation points at the line that it explains', () => {
  const { dockerfile, explanation } = generate(caseOf('node-npm-typescript'));
  const lines = dockerfile.split('\n');
  const about = (why: RegExp) =>
    explanation.filter((each) => why.test(each.why)).map(({ line }) => lines[line - 1]);
  assert.deepEqual(about(/swallow SIGTERM/), ['CMD ["node", "dist/server.js"]']);
  assert.deepEqual(about(/not root/), ['USER 1000:1000']);
  assert.ok(about(/^Manifests/).every((line) => line?.startsWith('COPY package.json')));
  assert.deepEqual(
    new Set(explanation.map(({ stage }) => stage)),
    new Set(['dependencies', 'build', 'production', 'runtime']),
  );
});

test('commands, port and path that a person set are taken as they are', () => {
  const { dockerfile, port } = generate({
    ...caseOf('node-npm-typescript'),
    options: {
      overrides: {
        installCommand: 'npm ci --legacy-peer-deps',
        buildCommand: 'npm run build:all',
        startCommand: 'npm start',
        port: 9000,
        healthPath: '/up',
        systemPackages: ['ffmpeg'],
      },
    },
  });
  assert.equal(port, 9000);
  assert.match(dockerfile, /^ {4}npm ci --legacy-peer-deps$/m);
  assert.match(dockerfile, /^RUN npm run build:all$/m);
  assert.match(dockerfile, /^CMD \["npm", "start"\]$/m);
  assert.match(dockerfile, /^EXPOSE 9000$/m);
  assert.match(dockerfile, /"\/up", "400"\]$/m);
  assert.equal(dockerfile.match(/apt-get install -y --no-install-recommends ffmpeg/g)?.length, 2);
});

test('where nothing says how an app is started, the fault names the setting that is missing', () => {
  const { app, files } = caseOf('node-npm-express');
  assert.throws(
    () => generate({ app: { ...app, startCommand: null }, ...(files && { files }) }),
    (error) =>
      error instanceof Fault && error.errors?.[0]?.path === 'startCommand' && error.hint !== undefined,
  );
  assert.throws(() => generate({ app: { language: 'brainfuck', startCommand: 'x' } }), /no base image/);
});

test('a .dockerignore of the repository has the last word', () => {
  const { app, files } = caseOf('node-npm-express');
  const own = '!coverage\ntmp\n';
  const { dockerignore } = generate({ app, files: { ...files, '.dockerignore': own, 'test/a.js': '' } });
  assertGolden('node-with-own.dockerignore', dockerignore);
  assert.ok(dockerignore.endsWith(own));
});

test('folders of tests and files of variables are sent only where something needs them', () => {
  const ignored = (files: Readonly<Record<string, unknown>>, line: string) =>
    generate({ app: caseOf('node-npm-express').app, files })
      .dockerignore.split('\n')
      .includes(line);
  const manifest = { scripts: { start: 'node test/server.js' } };
  assert.ok(ignored({ 'package.json': {}, 'test/a.js': '' }, 'test'));
  assert.ok(!ignored({ 'package.json': manifest, 'test/server.js': '' }, 'test'));
  assert.ok(ignored({ 'package.json': {}, '.env': 'VITE_A=1\n# B=2\n' }, '!.env'));
  assert.ok(!ignored({ 'package.json': {}, '.env': 'VITE_A=1\nTOKEN=2\n' }, '!.env'));
});

test('every app of every fixture gets a Dockerfile, or a sentence that says why not', async () => {
  const why: string[] = [];
  for (const { name, files } of readFixtures()) {
    const tree = new MemoryTree(files);
    const { apps, monorepo } = await analyse(tree, { signal: AbortSignal.timeout(hangMs) });
    const { entries } = await tree.list(10_000);
    const wanted = new Set(filesToRead(entries));
    const read = Object.fromEntries(
      Object.entries(files).map(([path, text]) => [path, wanted.has(path) ? text : '']),
    );
    for (const app of apps.filter(({ dockerfile }) => dockerfile === null)) {
      try {
        const { dockerfile } = generateDockerfile(app, monorepo, {
          buildVariables: [],
          files: repositoryOf(read),
        });
        const whole = generateDockerfile(app, monorepo, { buildVariables: [], files: repositoryOf(files) });
        assert.equal(dockerfile, whole.dockerfile, `${name}: filesToRead leaves out a file that counts`);
        assert.doesNotMatch(dockerfile, /undefined|\bnull\b(?!;)|\[object/, name);
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        why.push(`${name}: ${error.message}`);
      }
    }
  }
  // Languages without an image that could be told by a version, and what builds nothing that could run yet; whoever
  // adds one removes its line here.
  const expected = /^(java-scala|mono-js-rush|python-conda|rust-lunatic|generated\/qwik)/;
  assert.deepEqual(
    why.filter((each) => !expected.test(each)),
    [],
  );
});
