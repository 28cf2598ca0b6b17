import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { pack } from 'tar-stream';
import { buildImage, type ImageBuildSpec, sendContext } from '../../src/adapters/docker/build-image.ts';
import { proveBuildSeparation } from '../support/build-separation.ts';
import { openLab } from '../support/lab.ts';
import { connect, failsWith } from '../support/remote.ts';
import { hangMs } from '../support/until.ts';

const lab = await openLab();

for (const variant of ['provisioned', 'bookworm'] as const)
  test(`on ${variant}, builds of different environments on one server have nothing in common`, (t) =>
    proveBuildSeparation(t, lab, variant));

const evil = 'evil.example/frontend:1';
const base = 'debian:bookworm-slim';

/** Each asks BuildKit for it, or would ask some version of BuildKit. */
const orders = [
  `# syntax=${evil}`,
  `#syntax = ${evil} --option\r`,
  `\uFEFF# SYNTAX=${evil}`,
  `#!/usr/bin/env docker\n# syntax=${evil}`,
  `# escape=\\\n# Syntax=${evil}`,
  `// syntax=${evil}`,
  `\n  {"syntax": "${evil}"}`,
  '# syntax=docker/dockerfile:1.0-experimental',
  '# syntax=evil.example/docker/dockerfile:1',
];

/** No directive any more: comments of the repository's own. */
const comments = [`# Made by hand.\n# syntax=${evil}`, `FROM ${base}\n# syntax=${evil}`, '# syntax='];

for (const variant of ['docker', 'bookworm'] as const) {
  test(`on ${variant}, whoever wants a program of their own to do the build is refused, however they ask`, async (t) => {
    const remote = connect(t, await lab.fresh(t, variant));
    await remote.output(['docker', 'pull', '--quiet', base], { timeoutMs: 120_000 });
    const fence = { scope: 'frontends', epoch: 1 };
    let count = 0;
    const build = async (head: string, more: Partial<ImageBuildSpec> = {}) => {
      count += 1;
      const folder = `/var/lib/slipway/builds/frontend-${count}`;
      const files = [{ path: 'Dockerfile', content: `${head}\nFROM ${base}\n`, mode: 0o600 }];
      const tar = pack();
      tar.finalize();
      await sendContext(remote, { folder, tar: Readable.from(tar), files, fence });
      const image = { owner: 'slipway.test', tag: String(count), labels: { 'slipway.test': 'yes' } };
      const limits = { cpus: 1, memoryMb: 512, cacheScope: 'ctest' };
      const spec = { unit: `slipway-frontend-${count}`, folder, fence, ...image, ...limits };
      const following = { signal: AbortSignal.timeout(hangMs), line: () => undefined };
      return buildImage(remote, { buildArgs: {}, secretKeys: [], ...spec, ...more }, following);
    };
    for (const head of orders)
      await assert.rejects(build(head), failsWith('build_failed', /frontend that/), JSON.stringify(head));
    for (const key of ['BUILDKIT_SYNTAX', 'BUILDKIT_CACHE_MOUNT_NS'])
      await assert.rejects(build('', { buildArgs: { [key]: evil } }), failsWith('invalid_input'));
    for (const head of comments) assert.match((await build(head)).id, /^sha256:/);
  });
}
