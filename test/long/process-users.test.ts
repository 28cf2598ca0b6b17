import assert from 'node:assert/strict';
import { chmodSync, chownSync, mkdirSync, readFileSync, readlinkSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { newInstance } from '../support/instance.ts';
import { postmasterOf, type Service } from '../support/service.ts';

const asRoot = process.getuid?.() === 0;
const onlyRoot = { skip: asRoot ? false : 'not root: there is no other user to become' };
const nobody = 65_534;
const inNamespace = { uid: 0, capabilities: 0n, noNewPrivileges: true, ownNamespace: true };

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

// One data folder for all of these: the database is made once, and its place opened and closed between the starts.
test(
  'as root, a place that becomes closed or open to others between two starts still works',
  onlyRoot,
  async (t) => {
    const { dataDir, start } = newInstance(t);
    const startWhere = async (mode: number) => {
      chmodSync(dirname(dataDir), mode);
      const service = start();
      await works(service);
      return service;
    };

    await t.test('in a place that others may enter, the database runs as nobody', async () => {
      const service = await startWhere(0o755);
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
      await service.kill('SIGTERM');
    });

    await t.test(
      'closed to others, it runs in a user namespace, where a SIGKILL of the service ends it too',
      async () => {
        const service = await startWhere(0o700);
        assert.deepEqual(runsAs(dataDir), inNamespace);
        await service.kill('SIGKILL');
        // A database that went on would keep the next one from its folder.
        const next = await startWhere(0o700);
        assert.deepEqual(await next.kill('SIGTERM'), { code: 0, signal: null }, next.stderr);
      },
    );

    await t.test('and open again, it works again', async () => {
      await startWhere(0o755);
    });
  },
);

test(
  'as root, in a place that is closed to others, also by a link, the database runs in a user namespace without any power',
  onlyRoot,
  async (t) => {
    const { dataDir, start } = newInstance(t);
    const closed = join(dirname(dataDir), 'closed');
    chmodSync(dirname(dataDir), 0o755);
    mkdirSync(join(closed, 'data'), { recursive: true, mode: 0o700 });
    symlinkSync(join(closed, 'data'), dataDir);
    await works(start());
    assert.deepEqual(runsAs(dataDir), inNamespace);
    assert.equal(statSync(dataDir).mode & 0o777, 0o700);
  },
);
