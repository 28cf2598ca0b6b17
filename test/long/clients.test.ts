/** Clients that are made from the document by those who never saw this code: made, compiled under strict, and run. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { root } from '../../scripts/commands.ts';
import { newPerson } from '../support/people.ts';
import { temporaryFolder } from '../support/postgres.ts';
import { sharedTestApp } from '../support/shared-app.ts';

const run = promisify(execFile);
const source = join(root, 'test/clients');
const folder = temporaryFolder('clients');

const generators = {
  'openapi-typescript': [
    'openapi-typescript/bin/cli.js',
    ...['openapi.json', '--output', 'generated/openapi-typescript/schema.ts'],
  ],
  'hey-api': [
    '@hey-api/openapi-ts/bin/run.js',
    ...['--input', 'openapi.json', '--output', 'generated/hey-api', '--no-log-file'],
  ],
  orval: ['orval/dist/bin/orval.mjs', '--config', 'orval.config.mjs'],
} as const;

/** The generators need a TypeScript older than ours, so they are installed apart, once for each list of them. */
async function installed(): Promise<string> {
  const lock = readFileSync(join(source, 'package-lock.json'));
  const key = createHash('sha256').update(lock).digest('hex').slice(0, 16);
  const kept = join(root, 'node_modules/.cache/slipway-clients', key);
  if (existsSync(kept)) return kept;
  const half = `${kept}.${process.pid}`;
  mkdirSync(half, { recursive: true });
  for (const name of ['package.json', 'package-lock.json'])
    copyFileSync(join(source, name), join(half, name));
  await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: half });
  // Another run may have been quicker.
  if (existsSync(kept)) rmSync(half, { recursive: true });
  else renameSync(half, kept);
  return kept;
}

before(async () => {
  const modules = join(await installed(), 'node_modules');
  for (const name of readdirSync(source)) copyFileSync(join(source, name), join(folder, name));
  copyFileSync(join(root, 'openapi.json'), join(folder, 'openapi.json'));
  symlinkSync(modules, join(folder, 'node_modules'));
  for (const [program, ...args] of Object.values(generators))
    await run(process.execPath, [join(modules, program), ...args], { cwd: folder });
});
after(() => rmSync(folder, { recursive: true, force: true }));

test('what all three make is taken by the compiler under strict', async () => {
  const types = join(root, 'node_modules/@types');
  const { stdout } = await run(join(root, 'node_modules/.bin/tsc'), ['-p', folder, '--typeRoots', types]);
  assert.equal(stdout, '');
});

test('a small program of each runs against the service', async () => {
  const service = await sharedTestApp();
  const answers: Record<string, unknown> = {};
  for (const name of Object.keys(generators)) {
    const { email, token } = await newPerson(service);
    const outfile = join(folder, `${name}.bundle.mjs`);
    const entryPoints = [join(folder, `${name}.ts`)];
    await build({ entryPoints, outfile, bundle: true, platform: 'node', format: 'esm' });
    const env = { SLIPWAY_URL: service.url, SLIPWAY_TOKEN: token };
    const { stdout } = await run(process.execPath, [outfile], { env, timeout: 60_000 });
    const { email: told, location, ...rest } = JSON.parse(stdout);
    assert.equal(told, email);
    assert.match(location, /^\/api\/v1\/servers\/[0-9a-f-]{36}$/);
    answers[name] = rest;
  }
  assert.deepEqual(answers, {
    'openapi-typescript': { server: 'by-paths', code: 'not_found', told: 'a line' },
    'hey-api': { server: 'by-functions', code: 'not_found', reasons: ['registered', 'changed'] },
    orval: { server: 'by-statuses', code: 'not_found' },
  });
});
