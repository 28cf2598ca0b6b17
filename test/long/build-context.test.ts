import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { pack } from 'tar-stream';
import { buildImage, sendContext } from '../../src/adapters/docker/build-image.ts';
import { openLab } from '../support/lab.ts';
import { connect } from '../support/remote.ts';
import { hangMs } from '../support/until.ts';

const lab = await openLab();
const fence = { scope: 'context-test', epoch: 1 };
const labels = { 'slipway.test': 'yes' };

/** As a commit's: one time for all of it, in whole seconds. */
async function commitOf(contents: Readonly<Record<string, string>>): Promise<Readable> {
  const tar = pack();
  for (const [name, content] of Object.entries(contents))
    tar.entry({ name, mtime: new Date(1_700_000_000_000) }, content);
  tar.finalize();
  return Readable.from([await buffer(tar)]);
}

/** Also on an old Docker, which tells contexts apart otherwise. */
for (const variant of ['docker', 'bookworm'] as const)
  test(`two commits of one second with files of one size are built from their own files (${variant})`, async (t) => {
    const remote = connect(t, await lab.fresh(t, variant));
    const built: string[] = [];
    for (const name of ['one', 'two', 'three']) {
      const folder = `/var/lib/slipway/builds/${name}`;
      const dockerfile = `FROM scratch\nLABEL of=${name.slice(0, 3)}\nCOPY app.txt /app.txt\n`;
      const tar = await commitOf({ Dockerfile: dockerfile, 'app.txt': `of ${name.slice(0, 3)}` });
      await sendContext(remote, { folder, tar, files: [], fence });
      const wish = {
        unit: `slipway-context-${name}`,
        folder,
        owner: 'slipway.test',
        tag: name,
        cacheScope: 'ctest',
        labels,
        fence,
        dockerfilePath: 'Dockerfile',
      };
      const limits = { buildArgs: {}, secretKeys: [], cpus: 1, memoryMb: 512 };
      const following = { signal: AbortSignal.timeout(hangMs), secrets: [], line: () => undefined };
      const { id } = await buildImage(remote, { ...wish, ...limits }, following);
      const script = `id=$(docker create "$1" x); docker cp "$id:/app.txt" - | tar -xO; docker rm "$id" >/dev/null
docker image inspect --format ', label {{.Config.Labels.of}}' "$1"`;
      built.push((await remote.script(script, [id])).toString().trim());
    }
    assert.deepEqual(built, ['of one, label one', 'of two, label two', 'of thr, label thr']);
  });
