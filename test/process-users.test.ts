import assert from 'node:assert/strict';
import { chmodSync, chownSync, mkdirSync, readFileSync, readlinkSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { newInstance } from './support/instance.ts';
import { postmasterOf, type Service } from './support/service.ts';

const asRoot = process.getuid?.() === 0;
const onlyRoot = { skip: asRoot ? false : 'not root: there is no other user to become' };
const nobody = 65_534;

/** Who the database runs as, seen from outside. */
function runsAs(dataDir: string) {
  const pid = postmasterOf(dataDir);
  assert.ok(pid);
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string) => new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(status)?.[1];
  return {
    uid: Number(field('Uid')),
    capabilities: BigInt(`0x${field('CapEff')}`),
    noNewPrivileges: field('NoNewPrivs') === '1',
    ownNamespace: readlinkSync(`/proc/${pid}/ns/user`) !== readlinkSync('/proc/self/ns/user'),
  };
}

async function works(service: Service): Promise<void> {
  const url = await service.url();
  assert.equal((await fetch(`${url}/readyz`)).status, 200);
}

test('as an ordinary user, the database runs as ourselves', async (t) => {
  const { dataDir, start } = newInstance(t);
  if (!asRoot) {
    await works(start());
    assert.equal(runsAs(dataDir).uid, process.getuid?.());
    return;
  }
  const home = dirname(dataDir);
  chownSync(home, nobody, nobody);
  const become = ['--reuid=65534', '--regid=65534', '--clear-groups', '--'];
  const service = start({ HOME: home, TMPDIR: home }, [
    'setpriv',
    ...become,
    process.execPath,
    'src/main.ts',
  ]);
  await works(service);
  const { uid, capabilities, ownNamespace } = runsAs(dataDir);
  assert.deepEqual(
    { uid, capabilities, ownNamespace },
    { uid: nobody, capabilities: 0n, ownNamespace: false },
  );
  assert.equal(statSync(dataDir).uid, nobody);
  assert.deepEqual(await service.kill('SIGTERM'), { code: 0, signal: null }, service.stderr);
});

test('as root, in a place that others may enter, the database runs as nobody', onlyRoot, async (t) => {
  const { dataDir, start } = newInstance(t);
  chmodSync(dirname(dataDir), 0o755);
  const service = start();
  await works(service);
  assert.deepEqual(runsAs(dataDir), {
    uid: nobody,
    capabilities: 0n,
    noNewPrivileges: true,
    ownNamespace: false,
  });
  assert.equal(statSync(join(dataDir, 'postgres')).uid, nobody);
  // Nobody passes through our folder, and can neither list it nor read what is ours in it.
  assert.equal(statSync(dataDir).mode & 0o777, 0o711);
  for (const name of ['master.key', 'postgres.password', 'outbox']) {
    const { uid, mode } = statSync(join(dataDir, name));
    assert.deepEqual([name, uid, mode & 0o077], [name, 0, 0]);
  }
});

test(
  'as root, in a place that is closed to others, the database runs in a user namespace without any power',
  onlyRoot,
  async (t) => {
    const { dataDir, start } = newInstance(t);
    chmodSync(dirname(dataDir), 0o700);
    await works(start());
    assert.deepEqual(runsAs(dataDir), {
      uid: 0,
      capabilities: 0n,
      noNewPrivileges: true,
      ownNamespace: true,
    });
    assert.equal(statSync(dataDir).mode & 0o777, 0o700);
  },
);

test('as root, SIGKILL of the service ends a database in a user namespace too', onlyRoot, async (t) => {
  const { dataDir, start } = newInstance(t);
  chmodSync(dirname(dataDir), 0o700);
  const first = start();
  await works(first);
  await first.kill('SIGKILL');
  const second = start();
  await works(second);
  assert.deepEqual(await second.kill('SIGTERM'), { code: 0, signal: null }, second.stderr);
});

test(
  'as root, a place that becomes closed or open to others between two starts still works',
  onlyRoot,
  async (t) => {
    const { dataDir, start } = newInstance(t);
    const seen: (readonly [number, boolean])[] = [];
    for (const mode of [0o755, 0o700, 0o755]) {
      chmodSync(dirname(dataDir), mode);
      const service = start();
      await works(service);
      const { uid, ownNamespace } = runsAs(dataDir);
      seen.push([uid, ownNamespace]);
      await service.kill('SIGTERM');
    }
    assert.deepEqual(seen.slice(0, 2), [
      [nobody, false],
      [0, true],
    ]);
  },
);

test('as root, a data folder that is a link into a place closed to others works', onlyRoot, async (t) => {
  const { dataDir, start } = newInstance(t);
  const closed = join(dirname(dataDir), 'closed');
  chmodSync(dirname(dataDir), 0o755);
  mkdirSync(join(closed, 'data'), { recursive: true, mode: 0o700 });
  symlinkSync(join(closed, 'data'), dataDir);
  await works(start());
  assert.equal(runsAs(dataDir).ownNamespace, true);
});
