/**
 * Makes the npm package of the command line in a folder: bundled, so that it needs no other package, and in parts, so that
 * a command loads only its own. `node scripts/pack-cli.ts [folder]`, then `npm publish` or `npm pack` there.
 */
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { root } from './commands.ts';

const folder = resolve(process.argv[2] ?? join(root, 'node_modules/.cache/slipway-cli'));
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });

await build({
  entryPoints: { slipway: join(root, 'cli/main.ts') },
  outdir: join(folder, 'bin'),
  bundle: true,
  splitting: true,
  minifySyntax: true,
  minifyWhitespace: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  outExtension: { '.js': '.mjs' },
  chunkNames: 'parts/[name]-[hash]',
  banner: { js: '#!/usr/bin/env node' },
});

const { version, description, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const manifest = {
  name: 'slipway',
  version,
  description,
  license,
  type: 'module',
  bin: { slipway: 'bin/slipway.mjs' },
  files: ['bin'],
  engines: { node: '>=20.12' },
};
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
chmodSync(join(folder, 'bin/slipway.mjs'), 0o755);
copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
copyFileSync(join(root, 'docs/guides/cli.md'), join(folder, 'README.md'));
process.stdout.write(`${folder}\n`);
