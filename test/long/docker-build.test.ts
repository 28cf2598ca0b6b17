import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { pack } from 'tar-stream';
import {
  buildImage,
  type ImageBuildSpec,
  removeContext,
  sendContext,
} from '../../src/adapters/docker/build-image.ts';
import type { ContextFile } from '../../src/adapters/docker/send-context.ts';
import type { Remote } from '../../src/remote/remote.ts';
import { Secret } from '../../src/secret.ts';
import { faultOf } from '../support/faults.ts';
import { openLab } from '../support/lab.ts';
import { connect, failsWith, openPool, targetOf } from '../support/remote.ts';
import { hangMs, until } from '../support/until.ts';

const lab = await openLab();
const builds = '/var/lib/slipway/builds';
const folder = `${builds}/one`;
const fence = { scope: 'build-test', epoch: 7 };
const labels = { 'slipway.test': 'yes' };
const base = 'debian:bookworm-slim';

type Content = string | { readonly link: string };

function tarOf(contents: Readonly<Record<string, Content>>): Promise<Buffer> {
  const tar = pack();
  for (const [name, content] of Object.entries(contents)) {
    if (typeof content === 'string') tar.entry({ name, mode: name.endsWith('.sh') ? 0o755 : 0o644 }, content);
    else tar.entry({ name, type: 'symlink', linkname: content.link });
  }
  tar.finalize();
  return buffer(tar);
}

const endless = () => new Readable({ read: () => undefined });

interface Sent {
  readonly context?: Readonly<Record<string, Content>>;
  readonly files?: readonly ContextFile[];
  readonly to?: string;
}

/** `dockerfile` is the text of the one that we make; nothing of it is in the context. */
async function send(
  remote: Remote,
  dockerfile: string,
  { context = {}, files = [], to = folder }: Sent = {},
): Promise<void> {
  const own = { path: 'Dockerfile', content: dockerfile, mode: 0o600 };
  const tar = Readable.from([await tarOf({ 'app.txt': 'the app\n', ...context })]);
  await sendContext(remote, { folder: to, tar, files: [own, ...files], fence });
}

let units = 0;
function wishOf(more: Partial<ImageBuildSpec> = {}): ImageBuildSpec {
  units += 1;
  const names = {
    unit: `slipway-build-test-${units}`,
    folder,
    owner: 'slipway.test',
    tag: '1',
    labels,
    fence,
  };
  const common = { cacheScope: 'ctest', buildArgs: {}, secretKeys: [], cpus: 1, memoryMb: 512 };
  return { ...names, ...common, ...more };
}

async function build(remote: Remote, more: Partial<ImageBuildSpec> = {}, secrets: readonly Secret[] = []) {
  const lines: string[] = [];
  const { id: image } = await buildImage(remote, wishOf(more), {
    signal: AbortSignal.timeout(hangMs),
    secrets,
    line: (text) => void lines.push(text),
  });
  return { image, said: lines.join('\n') };
}

const sh = (remote: Remote, script: string) => remote.script(script, []).then((bytes) => bytes.toString());

/** Begins a build, and comes back when its line has appeared. */
async function begin(remote: Remote, wish: ImageBuildSpec, appears: RegExp) {
  const stop = new AbortController();
  const seen = Promise.withResolvers<void>();
  const ended = buildImage(remote, wish, {
    signal: stop.signal,
    line: (text) => appears.test(text) && seen.resolve(),
  });
  await Promise.race([seen.promise, ended]);
  return { ended, stop };
}

const noneRuns = (remote: Remote, what: string) =>
  until(
    async () =>
      (await sh(remote, 'cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" " " || :')).includes(what) === false,
    `${what} to be gone`,
  );

test('the files of a build arrive whole and closed to others, or not at all', async (t) => {
  const server = await lab.fresh(t, 'bare');
  const remote = connect(t, server);
  const files = [
    { path: 'Dockerfile', content: 'FROM x\n', mode: 0o600 },
    { path: 'Dockerfile.dockerignore', content: '', mode: 0o600 },
    { path: 'secrets/TOKEN', content: Buffer.from('a\0b\n'), mode: 0o400 },
  ];
  const contents = { 'run.sh': '#!/bin/sh\n', 'a/b.txt': 'b'.repeat(700_000), link: { link: '../../etc' } };
  const tar = await tarOf(contents);
  const wish = { folder, files, fence };
  const listing = () =>
    sh(
      remote,
      `cd ${folder} && find . -mindepth 1 -printf '%P %M %s\\n' | sort && stat -c %A . && ls ${builds}`,
    );

  await sendContext(remote, { ...wish, tar: Readable.from([tar.subarray(0, 5000), tar.subarray(5000)]) });
  const whole = await listing();
  assert.match(whole, /^context-one\/run\.sh -rwxr-xr-x 10$/m);
  assert.match(whole, /^context-one\/a\/b\.txt -rw-r--r-- 700000$/m);
  assert.match(whole, /^context-one\/link lrwxrwxrwx 9$/m);
  assert.match(whole, /^secrets\/TOKEN -r-------- 4$/m);
  assert.match(whole, /^Dockerfile\.dockerignore -rw------- 0$/m);
  assert.match(whole, /^drwx------\none\n$/m);
  assert.deepEqual(await remote.readFile(`${folder}/secrets/TOKEN`), Buffer.from('a\0b\n'));
  await sh(remote, `touch ${folder}/left ${folder}/context-one/left`);
  await sendContext(remote, { ...wish, tar: Readable.from([tar]) });
  assert.equal(await listing(), whole);

  // A connection that breaks, between two files and in the middle of one, looks like the end of the input.
  for (const at of [1024, 3000]) {
    const input = endless();
    input.push(tar.subarray(0, at));
    const pool = openPool(t);
    const target = targetOf(server);
    const sending = sendContext(pool.to(target), { ...wish, tar: input });
    sending.catch(() => undefined);
    await until(async () => (await sh(remote, `ls ${builds}`)).includes('one.new-'), 'its beginning');
    pool.drop(target.serverId);
    await assert.rejects(sending, failsWith('remote_unreachable'));
    await until(async () => !(await sh(remote, `ls ${builds}`)).includes('.new-'), 'it to be cleared');
    assert.equal(await listing(), whole, 'what was there before stays');
  }
  const failing = new Readable({
    read() {
      this.destroy(new Error('the mirror is damaged'));
    },
  });
  await assert.rejects(sendContext(remote, { ...wish, tar: failing }), /damaged/);
  const next = { ...wish, folder: `${builds}/two` };
  await assert.rejects(sendContext(remote, { ...next, tar: endless() }, AbortSignal.timeout(500)));
  assert.ok(!(await sh(remote, `ls ${builds}`)).split('\n').includes('two'));
  for (const each of [wish, next]) await sendContext(remote, { ...each, tar: Readable.from([tar]) });
  await removeContext(remote, next.folder);
  assert.equal(await listing(), whole, 'what was left half is gone');

  const older = { ...wish, tar: Readable.from([tar]), fence: { ...fence, epoch: 6 } };
  await assert.rejects(sendContext(remote, older), failsWith('remote_fenced'));
  for (const path of ['../x', '/etc/x', 'a/../b', '', '-rf', 'a b'])
    await assert.rejects(
      sendContext(remote, {
        ...wish,
        tar: Readable.from([tar]),
        files: [{ path, content: '', mode: 0o600 }],
      }),
      failsWith('invalid_input'),
    );
  await assert.rejects(removeContext(remote, '/var/lib'), failsWith('invalid_input'));

  assert.equal(await sh(remote, `ls ${builds}`), 'one\n');
  await removeContext(remote, folder);
  await removeContext(remote, folder);
  assert.equal(await sh(remote, `ls ${builds}`), '');
});

for (const variant of ['docker', 'bookworm'] as const) {
  test(`on ${variant}, an image is built within its limits, and a failure says why`, async (t) => {
    const remote = connect(t, await lab.fresh(t, variant));
    const group = variant === 'docker' ? 'slipwaybuild.slice' : 'docker/buildkit';
    await sh(remote, `docker pull --quiet ${base}`);

    await t.test('from our Dockerfile or one of the repository, with its labels and arguments', async () => {
      const odd = `"quotes" $(touch /tmp/ran) 'and'\nlines`;
      const dockerfile = `FROM ${base}\nARG ODD\nRUN printf %s "$ODD" > /odd\nCOPY . /app\nUSER 1234\nEXPOSE 3000\n`;
      const sent = {
        context: {
          'own/Dockerfile': `FROM ${base} AS first\nRUN echo first > /which\nFROM first\nRUN echo second > /which\n`,
        },
        files: [{ path: 'Dockerfile.dockerignore', content: 'own\n', mode: 0o600 }],
      };
      await send(remote, dockerfile, sent);
      const { image, said } = await build(remote, { buildArgs: { ODD: odd } });
      assert.match(image, /^sha256:[0-9a-f]{64}$/);
      assert.doesNotMatch(said, /slipway-build|cannot limit/);
      assert.match(said, /^#\d+ /m);
      const shown = JSON.parse(await sh(remote, `docker inspect ${image}`))[0];
      assert.deepEqual([shown.Id, shown.Config.User], [image, '1234']);
      assert.equal(shown.Config.Labels['slipway.test'], 'yes');
      assert.equal(await sh(remote, `docker run --rm ${image} cat /odd`), odd);
      assert.equal(await sh(remote, `docker run --rm ${image} ls /app`), 'app.txt\n');
      assert.equal((await remote.run(['ls', '/tmp/ran'])).code, 2);

      // A build that succeeded took its folder away: whoever asks again, not knowing, is told the same image.
      assert.deepEqual(await build(remote, { buildArgs: { ODD: odd } }), { image, said: '' });

      // As the next deployment: in a folder of its own, and yet no step is done anew.
      const next = { folder: `${builds}/two`, tag: '2', buildArgs: { ODD: odd } };
      await send(remote, dockerfile, { ...sent, to: next.folder });
      const again = await build(remote, next);
      const steps = Array.from(
        again.said.matchAll(/^#(\d+) \[\d\/\d\] (RUN|COPY) /gm),
        ([, number]) => number,
      );
      assert.equal(steps.length, 2, again.said);
      for (const each of steps) assert.match(again.said, new RegExp(`^#${each} CACHED$`, 'm'));

      const own = { dockerfilePath: 'own/Dockerfile', tag: 'own' };
      await send(remote, dockerfile, sent);
      const second = await build(remote, own);
      assert.equal(await sh(remote, `docker run --rm ${second.image} cat /which`), 'second\n');
      await send(remote, dockerfile, sent);
      const first = await build(remote, { ...own, target: 'first' });
      assert.equal(await sh(remote, `docker run --rm ${first.image} cat /which`), 'first\n');
    });

    await t.test('a Dockerfile that leads out of the repository is not read', async () => {
      await send(remote, 'FROM x\n', {
        context: {
          file: { link: '/etc/shadow' },
          dir: { link: '/etc' },
          up: { link: '../Dockerfile' },
          in: { link: 'real' },
          real: `FROM ${base}\n`,
        },
      });
      for (const dockerfilePath of ['file', 'dir/shadow', '../../../../../../../etc/shadow', 'up']) {
        const fault = await faultOf(() => build(remote, { dockerfilePath }));
        assert.deepEqual([fault.code, fault.evidence], ['build_failed', dockerfilePath]);
        assert.match(fault.message, /leads out/);
      }
      await assert.rejects(
        build(remote, { dockerfilePath: 'none' }),
        failsWith('build_failed', /no Dockerfile/),
      );
      await build(remote, { dockerfilePath: 'in' });
    });

    await t.test('a step that fails is told with its last lines and, where known, with help', async () => {
      await send(
        remote,
        `FROM ${base}\nRUN for i in $(seq 100); do echo "line $i"; done; echo wrong; exit 3\n`,
      );
      const fault = await faultOf(() => build(remote));
      assert.equal(fault.code, 'build_failed');
      assert.match(fault.message, /RUN for i in/);
      assert.match(fault.evidence ?? '', /line 100$/m);
      assert.match(fault.evidence ?? '', /^wrong$/m);
      assert.match(fault.evidence ?? '', /exit code: 3/);
      assert.doesNotMatch(fault.evidence ?? '', /^line 5$/m);
      await send(remote, `FROM ${base}\nCOPY package-lock.json /\n`);
      assert.match((await faultOf(() => build(remote))).hint ?? '', /not in the commit/);
      await send(remote, 'FROM x\nNONSENSE\n');
      assert.match((await faultOf(() => build(remote))).hint ?? '', /mistake/);
    });

    await t.test('its processor time is capped', async () => {
      const burn = 'timeout 3 sh -c "while :; do :; done"';
      await send(remote, `FROM ${base}\nRUN ${burn} & ${burn} & wait; times\n`);
      const { said } = await build(remote, { cpus: 0.2 });
      // The shell's own time, and then that of its children.
      const [, used] = Array.from(said.matchAll(/^#\d+ \S+ 0m([\d.]+)s /gm), ([, each]) => Number(each));
      assert.ok(used !== undefined);
      assert.ok(used < 1.5, `${used} s of 6\n${said}`);
      const stat = await sh(remote, `cat /sys/fs/cgroup/cpu/${group}/cpu.stat`);
      assert.match(stat, /nr_throttled [1-9]/);
    });

    await t.test(
      'one that takes too much memory ends with its own fault, also where a program hides it',
      async () => {
        for (const how of ['tail /dev/zero', '(tail /dev/zero; true); echo npm ERR signal SIGKILL; exit 1']) {
          await send(remote, `FROM ${base}\nRUN echo begun; ${how}\n`);
          const fault = await faultOf(() => build(remote, { memoryMb: 96 }));
          assert.equal(fault.code, 'build_out_of_memory', fault.evidence);
          assert.match(fault.evidence ?? '', /^begun$/m);
        }
        const limit = await sh(remote, `cat /sys/fs/cgroup/memory/${group}/memory.limit_in_bytes`);
        assert.equal(Number(limit), 96 * 1024 * 1024);
        await send(
          remote,
          `FROM ${base}\nRUN head -c 150000000 /dev/zero | tail -c 150000000 > /dev/null && echo fits\n`,
        );
        await assert.rejects(build(remote, { memoryMb: 96 }), failsWith('build_out_of_memory'));
        assert.match((await build(remote, { memoryMb: 512 })).said, /fits/);
      },
    );

    await t.test(
      'a secret is in no layer, no list of processes, no output, and no file that others can read',
      async () => {
        const secret = new Secret('canary-7c1e5f0a9b');
        const dockerfile = `FROM ${base}\nRUN --mount=type=secret,id=TOKEN test -s /run/secrets/TOKEN && echo layer-mark > /mark\nRUN sleep 4321\n`;
        await send(remote, dockerfile, {
          files: [{ path: 'secrets/TOKEN', content: secret.reveal(), mode: 0o400 }],
        });
        const { ended, stop } = await begin(remote, wishOf({ secretKeys: ['TOKEN'] }), /RUN sleep 4321/);
        const processes = await sh(
          remote,
          'cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr "\\0" " " || :',
        );
        assert.match(processes, /--secret id=TOKEN,src=/);
        assert.ok(!processes.includes(secret.reveal()));
        const readable = `runuser -u nobody -- grep -rl ${secret.reveal()} /var/lib/slipway /var/lib/docker /tmp /run /root 2>/dev/null || :`;
        assert.equal(await sh(remote, readable), '');
        stop.abort(new Error('cancelled'));
        await assert.rejects(ended, /cancelled/);

        // What a step prints is hidden from our output; Docker itself keeps it, where only root can read.
        const loud = new Secret('loud-canary-5d0c');
        const print = 'RUN --mount=type=secret,id=LOUD cat /run/secrets/LOUD\n';
        await send(remote, dockerfile.replace('RUN sleep 4321\n', print), {
          files: [
            { path: 'secrets/TOKEN', content: secret.reveal(), mode: 0o400 },
            { path: 'secrets/LOUD', content: loud.reveal(), mode: 0o400 },
          ],
        });
        const { image, said } = await build(remote, { secretKeys: ['TOKEN', 'LOUD'] }, [secret, loud]);
        assert.match(said, /\[secret\]/);
        for (const each of [secret, loud]) assert.ok(!said.includes(each.reveal()));
        await sh(
          remote,
          `rm -rf /root/saved; mkdir /root/saved; docker save ${image} | tar -x -C /root/saved`,
        );
        assert.notEqual(await sh(remote, 'grep -rl layer-mark /root/saved'), '');
        assert.equal(await sh(remote, `grep -rl ${secret.reveal()} /root/saved || :`), '');
        const history = await sh(remote, `docker history --no-trunc ${image}; docker inspect ${image}`);
        assert.ok(!history.includes(secret.reveal()));
        await removeContext(remote, folder);
        const left = `grep -rl ${secret.reveal()} /var/lib/slipway /var/lib/docker /tmp /run /root 2>/dev/null || :`;
        assert.equal(await sh(remote, left), '');
        await assert.rejects(
          build(remote, { secretKeys: ['A,src=/etc/shadow'] }),
          failsWith('invalid_input'),
        );
      },
    );

    await t.test(
      'one that is cancelled leaves nothing running; one that is lost can be tried again',
      async () => {
        await send(remote, `FROM ${base}\nRUN sh -c 'sleep 4322' & sleep 4323\n`);
        const runs = () =>
          until(async () => (await remote.run(['pgrep', '-f', '^sleep 4323'])).code === 0, 'the step to run');
        const first = await begin(remote, wishOf(), /RUN sh -c/);
        await runs();
        first.stop.abort(new Error('cancelled'));
        await assert.rejects(first.ended, /cancelled/);
        await noneRuns(remote, 'sleep 432');

        const wish = wishOf();
        const second = await begin(remote, wish, /RUN sh -c/);
        await runs();
        await sh(remote, `systemctl kill --signal=KILL ${wish.unit}.service`);
        await assert.rejects(second.ended, failsWith('work_lost'));
        await noneRuns(remote, 'sleep 432');
        assert.equal(await sh(remote, `systemctl list-units --all --no-legend 'slipway-build-*'`), '');

        const third = await begin(remote, wishOf(), /RUN sh -c/);
        await runs();
        await sh(remote, 'systemctl restart docker');
        const fault = await faultOf(() => third.ended);
        assert.equal(fault.code, 'remote_failed', fault.evidence);
        assert.match(fault.message, /Docker ended/);
        await noneRuns(remote, 'sleep 432');
      },
    );
  });
}
