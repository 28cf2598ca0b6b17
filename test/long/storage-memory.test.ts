import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { bucket, region } from '../../lab/services/s3.ts';
import { keys, startScene } from '../storage/support.ts';

test('300 MB are sealed, put, read and opened with memory that does not grow with them', async (t) => {
  const { s3 } = await startScene(t);
  const program = new URL('../storage/put-large.ts', import.meta.url).pathname;
  const args = ['--expose-gc', program, s3.endpoint, region, bucket, keys.accessKeyId, '300'];
  const env = { ...process.env, SECRET_KEY: keys.secretAccessKey };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  const { grewMegabytes, isSame } = JSON.parse(stdout);
  assert.equal(isSame, true);
  assert.ok(grewMegabytes > 0 && grewMegabytes < 64, `it grew by ${grewMegabytes} MB`);
  t.diagnostic(`grew by ${Math.round(grewMegabytes)} MB`);
});
