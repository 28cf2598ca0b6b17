import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { sendScript } from '../../src/remote/exec/script.ts';
import { followUnit } from '../../src/remote/units/follow-unit.ts';
import { Secret } from '../../src/secret.ts';
import { faultOf } from '../support/faults.ts';
import { openLab } from '../support/lab.ts';
import { connect, failsWith, letIn } from '../support/remote.ts';
import { until } from '../support/until.ts';

const lab = await openLab();

test('a script arrives whole, however large, and reads its own input from the first byte on', async (t) => {
  const server = await lab.shared('sudo');
  const login = await letIn(lab, server);
  const large = `${'# é, a line of a long script\n'.repeat(20_000)}echo "$# $1"; cat | sha256sum; exit 0\n\n`;
  const bytes = randomBytes(3_000_000);
  const sum = createHash('sha256').update(bytes).digest('hex');
  for (const asRoot of [true, false]) {
    const remote = connect(t, server, login);
    for (const input of [bytes, Readable.from([bytes.subarray(0, 100_000), bytes.subarray(100_000)])]) {
      const said = await remote.script(large, ['-n', ''], { asRoot, input });
      assert.equal(said.toString(), `2 -n\n${sum}  -\n`);
    }
    assert.equal((await remote.script('cat; echo end', [], { asRoot })).toString(), 'end\n');
    // As in `sh -euc`: the first failure ends it, an unset name is a failure, and its code is the script's.
    for (const text of ['false; touch /tmp/on', 'echo "$none"; touch /tmp/on', 'if :; then touch /tmp/on'])
      await assert.rejects(remote.script(text, [], { asRoot }), failsWith('remote_failed'), text);
    await assert.rejects(
      remote.script('trap "echo trapped" EXIT; (exit 9)', [], { asRoot }),
      failsWith('remote_failed', /exit code 9 .*trapped/),
    );
  }
  assert.equal((await lab.client.console(server.about.name, 'ls', '/tmp/on')).code, 2);
});

test('half a script, as a broken connection leaves it, does nothing', async (t) => {
  const remote = connect(t, await lab.shared('bare'));
  const { argv, preamble } = sendScript('touch /tmp/on\ntouch /tmp/on', []);
  for (const cut of [1, 14, preamble.length - 1]) {
    const outcome = await remote.run(argv, { input: preamble.subarray(0, cut) });
    assert.deepEqual([outcome.code, outcome.stderr.toString()], [1, 'the script did not arrive whole\n']);
  }
  assert.equal(await remote.readFile('/tmp/on'), undefined);
  assert.equal((await remote.run(argv, { input: preamble })).code, 0);
  assert.equal((await remote.readFile('/tmp/on'))?.length, 0);
});

test('sudo’s log shows neither the text of a script nor what a unit runs', async (t) => {
  const server = await lab.shared('sudo');
  const remote = connect(t, server, await letIn(lab, server));
  await remote.script('echo begun; : mark-of-a-script', ['first-datum']);
  await remote.writeFile('/etc/slipway-test', 'mark-of-a-file', { mode: 0o600 });
  const wish = { name: 'slipway-quiet', argv: ['sh', '-c', ': mark-of-a-unit; cat'], what: 'The test' };
  const lines: string[] = [];
  const line = (text: string) => void lines.push(text);
  const { signal } = new AbortController();
  await followUnit(remote, { ...wish, input: Buffer.from('mark-of-an-input') }, { signal, line });
  assert.deepEqual(lines, ['mark-of-an-input']);
  await assert.rejects(remote.run(['sleep', '1004'], { timeoutMs: 300 }), failsWith('remote_timeout'));
  const left = () => lab.client.console(server.about.name, 'pgrep', '-f', '-x', 'sleep 1004');
  await until(async () => (await left()).code === 1, 'it to be gone');

  const read = 'journalctl --no-pager -o cat; cat /var/log/auth.log /var/log/syslog 2>/dev/null || :';
  const log = (await lab.client.console(server.about.name, 'sh', '-c', read)).stdout;
  assert.match(log, /COMMAND=.*first-datum/);
  assert.doesNotMatch(log, /mark-of-a|flock|grep -lsazxF/);
  const commands = log.split('\n').filter((each) => /COMMAND=/.test(each));
  for (const each of commands) assert.ok(each.length < 700, each);
});

test('what a command printed is evidence without the secrets that it was given', async (t) => {
  const remote = connect(t, await lab.shared('bare'));
  const secrets = [new Secret('hunter2-hunter2'), new Secret(Buffer.from('a second one'))];
  const input = secrets.map((each) => each.reveal().toString()).join('\n');
  const faults = [
    await faultOf(() => remote.output(['sh', '-c', 'cat; exit 3'], { input, secrets })),
    await faultOf(() => remote.script('cat | base64 >&2; exit 3', [], { input, secrets })),
    // The evidence is cut to its end; the cut must not go through a secret and leave half of it.
    await faultOf(() =>
      remote.script('cat >/dev/null; printf "%s%03990d" hunter2-hunter2 1; exit 3', [], { input, secrets }),
    ),
  ];
  for (const { evidence = '' } of faults) {
    assert.match(evidence, /\[secret\]|0001$/);
    assert.doesNotMatch(evidence, /hunter|second|aHVudGVy/);
  }
  assert.equal((await remote.output(['cat'], { input, secrets })).toString(), input);
});
