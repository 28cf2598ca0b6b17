import assert from 'node:assert/strict';
import { chmodSync, rmdirSync, rmSync, statSync, symlinkSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { faultOf } from '../../../test/support/faults.ts';
import { temporaryFolder } from '../../../test/support/postgres.ts';
import type { PostgresUser } from './postgres-user.ts';
import { socketFolder } from './socket-folder.ts';

const uid = process.getuid?.() ?? 0;
const gid = process.getgid?.() ?? 0;
const user: PostgresUser = { uid, gid, wrap: (program, args) => [program, args] };
const deep = (name: string) => join('/', name.repeat(100), 'postgres');

test('a short path holds the socket itself, up to the last byte the kernel takes', () => {
  assert.equal(socketFolder('/srv/slipway/postgres', user), '/srv/slipway/postgres');
  const rest = '/.s.PGSQL.5432.lock'.length;
  const longest = `/${'x'.repeat(107 - rest - 1)}`;
  assert.equal(socketFolder(longest, user), longest);
});

test('a path that is too long gets a short folder of its own, always the same, closed to others', (t) => {
  const folder = socketFolder(deep('a'), user);
  const other = socketFolder(deep('ü'), user);
  t.after(() => {
    rmdirSync(folder);
    rmdirSync(other);
  });
  assert.equal(dirname(folder), tmpdir());
  assert.notEqual(folder, other);
  assert.equal(socketFolder(deep('a'), user), folder);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
});

test('a folder in that place that others can enter, or a link to elsewhere, is refused by name', async (t) => {
  const folder = socketFolder(deep('b'), user);
  chmodSync(folder, 0o755);
  const open = await faultOf(() => socketFolder(deep('b'), user));
  rmdirSync(folder);
  const elsewhere = temporaryFolder('sockets');
  symlinkSync(elsewhere, folder);
  t.after(() => {
    unlinkSync(folder);
    rmSync(elsewhere, { recursive: true });
  });
  const linked = await faultOf(() => socketFolder(deep('b'), user));
  for (const fault of [open, linked]) {
    assert.equal(fault.code, 'embedded_database_failed');
    assert.ok(fault.message.includes(folder), fault.message);
  }
});
