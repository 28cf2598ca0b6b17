import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { gzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Fault } from '../../src/fault.ts';
import { openLab } from '../support/lab.ts';
import { failsWith } from '../support/remote.ts';
import { proveDumps } from '../support/sql-engine-proof.ts';
import { type EngineScene, engineScene, quiet } from '../support/sql-engine-scene.ts';

const lab = await openLab();

async function newScene(t: TestContext, kind: 'postgres' | 'mariadb') {
  const scene = await engineScene(t, await lab.shared('docker'), kind);
  const { engine, site, source, save, put } = scene;
  const scratch = await save(await engine.dump(site, source));
  let number = 0;
  /** As an upload; gives the name of what it was loaded into. */
  const upload = async (content: string | Buffer, begin: 'empty' | 'copy' = 'empty') => {
    number += 1;
    const beside = `beside_${number}`;
    await writeFile(scratch, content);
    const file = await put(scratch, `upload-${number}`);
    await engine.loadBeside(site, source, file, { beside, begin, content: 'upload' }, quiet);
    return beside;
  };
  const discard = (beside: string) => engine.discard(site, source, beside);
  return { ...scene, scratch, upload, discard };
}

async function inside({ server, source }: EngineScene, command: string): Promise<Buffer> {
  const text = await server.ssh(`docker exec ${source.container} ${command} | base64 -w0`);
  return Buffer.from(text, 'base64');
}

const notSql: readonly (readonly [string, Buffer])[] = [
  ['zip', Buffer.from('504b03041400000008', 'hex')],
  ['bzip2', Buffer.from('425a683931415926', 'hex')],
  ['xz', Buffer.from('fd377a585a000004', 'hex')],
  ['binary', Buffer.from('7f454c460201010000000000', 'hex')],
  ['UTF-16', Buffer.from('\ufeffselect 1;', 'utf16le')],
  ['empty', Buffer.alloc(0)],
  ['SQLite', Buffer.from('SQLite format 3\0')],
];

test('a million rows: dumped, tried, and a load that is killed in the middle is begun again', async (t) => {
  const scene = await newScene(t, 'postgres');
  const { engine, site, source, put, save, server } = scene;
  // More are loaded by `npm run bench -- backup`.
  await scene.fill(1_000_000);
  const sums = await scene.sql('select count(*), sum(hashtext(t::text)::bigint) from many t');
  const dump = await engine.dump(site, source);
  const file = await put(await save(dump), 'large');
  const { figures } = await dump.ended;
  const tried = await engine.tryOut(site, source, file, 'mark-large', quiet);
  assert.deepEqual(tried, { outcome: 'loaded', figures });

  const names = { beside: 'beside_1', before: 'before_1' };
  const wish = { beside: names.beside, begin: 'empty', content: 'dump' } as const;
  // So slow that the kill comes in the middle of it, however fast the machine is.
  const allow = (quota: number) =>
    server.ssh(`docker update --cpu-period 100000 --cpu-quota ${quota} ${source.container}`);
  await allow(10_000);
  const seen: number[] = [];
  let killing: Promise<string> | undefined;
  const killed = engine.loadBeside(site, source, file, wish, {
    log: () => undefined,
    fraction: (done) => {
      seen.push(done);
      killing ??= server.ssh('systemctl kill --signal=KILL slipway-load-beside-1.service');
    },
  });
  await assert.rejects(killed, failsWith('work_lost'));
  await killing;
  assert.ok(seen.length > 0 && seen.every((each) => each >= 0 && each < 1), String(seen));
  await allow(-1);
  await engine.loadBeside(site, source, file, wish, quiet);
  await engine.swap(site, source, names);
  assert.equal(await scene.sql('select count(*), sum(hashtext(t::text)::bigint) from many t'), sums);
});

test('mariadb: a dump is proven by loading it, brings everything back, can be taken back, and ends when nobody reads it', (t) =>
  proveDumps(t, lab, 'mariadb'));
