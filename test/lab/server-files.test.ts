import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  prepareFolder,
  removeFolder,
  workFolder,
  writeServerFile,
} from '../../src/areas/backups/engines/server-files.ts';
import { newId } from '../../src/ids.ts';
import { openLab } from '../support/lab.ts';
import { connect, failsWith } from '../support/remote.ts';

const lab = await openLab();

async function* bytesOf(...parts: string[]): AsyncGenerator<Buffer> {
  for (const part of parts) yield Buffer.from(part);
}

test('a worker that was replaced neither takes away nor overwrites what its successor reads', async (t) => {
  const remote = connect(t, await lab.shared('bare'));
  const signal = new AbortController().signal;
  const work = (epoch: number) => ({ remote, signal, fence: { scope: 'files-test', epoch } });
  const [old, successor] = [work(3), work(4)];
  const id = newId();
  await prepareFolder(old, id, 10);
  await writeServerFile(old, id, 'dump', bytesOf('of the old one'));

  await prepareFolder(successor, id, 10);
  const { path, bytes } = await writeServerFile(successor, id, 'dump', bytesOf('of the', ' next'));
  assert.deepEqual([path, bytes], [`${workFolder(id)}/dump`, 11]);
  await assert.rejects(removeFolder(old, id), failsWith('remote_fenced'));
  await assert.rejects(prepareFolder(old, id, 10), failsWith('remote_fenced'));
  await assert.rejects(writeServerFile(old, id, 'dump', bytesOf('late')), failsWith('remote_fenced'));
  assert.equal(String(await remote.readFile(path)), 'of the next');

  await removeFolder(successor, id);
  assert.equal(await remote.readFile(path), undefined);
  await removeFolder(successor, id);
  // Where nobody works yet, as in an upload, nothing is compared.
  await prepareFolder({ remote, signal }, id, 10);
  await removeFolder({ remote, signal }, id);
});
