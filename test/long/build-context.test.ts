import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { pack } from 'tar-stream';
import { buildImage, sendContext } from '../../src/adapters/docker/build-image.ts';
import { followUnit } from '../../src/remote/units/follow-unit.ts';
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

/** As other builds and units at the same time do. */
const comeAndGo = `while (1) { for my $folder (@ARGV) {
  mkdir "$folder/.start-$_" for 1 .. 40;
  rename "$folder/.start-$_", "$folder/there-$_" for 1 .. 40;
  rmdir "$folder/there-$_" for 1 .. 40 } }`;

test('whoever builds is not ended by the folders of others that come and go', async (t) => {
  const remote = connect(t, await lab.fresh(t, 'docker'));
  const builds = '/var/lib/slipway/builds';
  const units = '/var/lib/slipway/units';
  await remote.output(['mkdir', '-p', builds, units]);
  await remote.output([
    'systemd-run',
    '--quiet',
    '--unit=come-and-go',
    'perl',
    '-e',
    comeAndGo,
    builds,
    units,
  ]);
  for (let nth = 0; nth < 30; nth += 1) {
    const tar = await commitOf({ 'app.txt': 'content' });
    await sendContext(remote, { folder: `${builds}/mine`, tar, files: [], fence });
    const unit = { what: 'Nothing', name: `slipway-beside-${nth}`, argv: ['true'], fence };
    await followUnit(remote, unit, { signal: t.signal, line: () => undefined });
  }
});
