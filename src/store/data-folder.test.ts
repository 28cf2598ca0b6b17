import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { faultOf } from '../../test/support/faults.ts';
import { temporaryFolder } from '../../test/support/postgres.ts';
import { openDataFolder } from './data-folder.ts';

function parentFolder(t: TestContext): string {
  const folder = temporaryFolder('data');
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('a folder that is not there is made, with those above it, closed to others', async (t) => {
  const path = join(parentFolder(t), 'a', 'b');
  const folder = await openDataFolder(path);
  t.after(() => folder.release());
  assert.equal(statSync(path).mode & 0o777, 0o700);
  for (const [name, file] of Object.entries(folder)) {
    if (typeof file === 'string' && name !== 'path') assert.equal(dirname(file), path, name);
  }
});

test('a folder that is in use is refused, by whatever name it is called', async (t) => {
  const parent = parentFolder(t);
  const path = join(parent, 'data');
  const folder = await openDataFolder(path);
  symlinkSync('data', join(parent, 'link'));
  symlinkSync(parent, join(parent, 'around'));
  const names = [path, join(parent, 'link'), join(parent, 'around', 'data'), `${parent}/x/../data/.`];
  for (const name of names) {
    const fault = await faultOf(() => openDataFolder(name));
    assert.equal(fault.code, 'data_folder_in_use');
    assert.ok(
      fault.message.startsWith(`Another Slipway is running on the data folder ${name}. `),
      fault.message,
    );
    assert.match(fault.message, /SLIPWAY_DATA_DIR/);
  }
  await folder.release();
});

test('a folder stays in use when it is moved', async (t) => {
  const parent = parentFolder(t);
  const folder = await openDataFolder(join(parent, 'data'));
  renameSync(join(parent, 'data'), join(parent, 'moved'));
  assert.equal((await faultOf(() => openDataFolder(join(parent, 'moved')))).code, 'data_folder_in_use');
  await (await openDataFolder(join(parent, 'data'))).release();
  await folder.release();
});

test('a folder that was released can be opened again, by one', async (t) => {
  const path = parentFolder(t);
  await (await openDataFolder(path)).release();
  const attempts = await Promise.allSettled(Array.from({ length: 5 }, () => openDataFolder(path)));
  const opened = attempts.filter((each) => each.status === 'fulfilled');
  assert.equal(opened.length, 1);
  for (const { value } of opened) await value.release();
});

test('two folders do not stand in each other’s way', async (t) => {
  const parent = parentFolder(t);
  const folders = [await openDataFolder(join(parent, 'a')), await openDataFolder(join(parent, 'b'))];
  for (const folder of folders) await folder.release();
});

test('a place where no folder can be is refused with its path and the reason', async (t) => {
  const parent = parentFolder(t);
  const file = join(parent, 'file');
  writeFileSync(file, '');
  symlinkSync('nowhere', join(parent, 'dangling'));
  for (const path of [file, join(file, 'below'), join(parent, 'dangling'), '/sys/slipway']) {
    const fault = await faultOf(() => openDataFolder(path));
    assert.equal(fault.code, 'data_folder_unusable');
    assert.ok(fault.message.startsWith(`The data folder ${path} cannot be used: `), fault.message);
  }
});

test('a folder that is already there keeps its mode', async (t) => {
  const path = join(parentFolder(t), 'data');
  mkdirSync(path);
  chmodSync(path, 0o750);
  await (await openDataFolder(path)).release();
  assert.equal(statSync(path).mode & 0o777, 0o750);
});
