import assert from 'node:assert/strict';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { connectSocket } from '../../src/remote/relay/connect-socket.ts';
import type { Exchange, Remote, SocketAddress } from '../../src/remote/remote.ts';
import { Secret } from '../../src/secret.ts';
import { openLab } from '../support/lab.ts';
import { connect, failsWith } from '../support/remote.ts';
import { until } from '../support/until.ts';

const lab = await openLab();

/**
 * Listens on a Unix socket and on both kinds of loopback. Takes one line: `say …` is answered with the rest of it, `big n`
 * with so many letters, `hang` with the beginning of an answer and no more, `http` with one that is whole while the
 * connection stays open, `turn` with which turn it is.
 */
const listener = String.raw`
use strict; use IO::Socket; use IO::Socket::UNIX; use Socket qw(:DEFAULT inet_pton IPPROTO_IPV6 IPV6_V6ONLY); $| = 1; $SIG{CHLD} = q{IGNORE};
my @all = (IO::Socket::UNIX->new(Local => q{/run/relay-test.sock}, Listen => 50), IO::Socket::INET->new(LocalAddr => q{127.0.0.1}, LocalPort => 8099, Listen => 50, ReuseAddr => 1));
socket(my $six, PF_INET6, SOCK_STREAM, 0); setsockopt($six, IPPROTO_IPV6, IPV6_V6ONLY, 1); bind($six, pack_sockaddr_in6(8099, inet_pton(PF_INET6, q{::1}))) or die $!; listen($six, 50);
for my $s (@all, $six) { next if fork; while (accept(my $c, $s)) { next if fork; my $line = q{}; sysread $c, $line, 1000000; my $out = q{};
  if ($line =~ /^say (.*)/s) { $out = $1 } elsif ($line =~ /^big (\d+)/) { $out = q{x} x $1 }
  elsif ($line =~ /^hang/) { syswrite $c, q{half}; sleep 60 } elsif ($line =~ /^http/) { syswrite $c, qq{HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok}; sleep 60 }
  elsif ($line =~ /^turn/) { open my $f, q{>>}, q{/run/relay-turns}; syswrite $f, q{.}; close $f; $out = q{turn } . -s q{/run/relay-turns} }
  my $at = 0; while ($at < length $out) { my $n = syswrite $c, $out, 65536, $at; last unless $n; $at += $n } exit } }
print qq{listening\n}; sleep 3600;
`;

async function listen(t: TestContext): Promise<Remote> {
  const server = await lab.shared('bare');
  const remote = connect(t, server);
  await remote.startUnit({ name: 'slipway-relay-test', argv: ['perl', '-e', listener] });
  await until(
    async () => (await remote.readUnit('slipway-relay-test', 0, 5_000)).bytes.toString() === 'listening\n',
    'the listener',
  );
  return remote;
}

const socket: SocketAddress = { path: '/run/relay-test.sock' };
const say = (text: string, rest: Partial<Exchange> = {}): Exchange => ({
  to: socket,
  send: `say ${text}`,
  ...rest,
});

test('exchanges with sockets of a server go in one round trip, and the first that is unmet is the last', async (t) => {
  const remote = await listen(t);
  const texts = (exchanges: readonly Exchange[]) =>
    remote.relay(exchanges).then((answers) => answers.map(({ last }) => last.bytes.toString('latin1')));

  await t.test('by path, by IPv4 and by IPv6, bytes arrive as they were sent', async () => {
    const odd = Buffer.from(Array.from({ length: 256 }, (_, at) => at));
    const send = Buffer.concat([Buffer.from('say '), odd]);
    const places: SocketAddress[] = [socket, { host: '127.0.0.1', port: 8099 }, { host: '::1', port: 8099 }];
    const answers = await remote.relay(places.map((to) => ({ to, send })));
    for (const { last, tries } of answers) {
      assert.deepEqual(last.bytes, odd);
      assert.equal(last.isMet, true);
      assert.equal(last.problem, null);
      assert.equal(tries.length, 1);
    }
    assert.equal(answers.length, 3);
    assert.deepEqual(await texts([]), []);
  });

  await t.test('what comes after an unmet expectation is not done', async () => {
    const before = await texts([{ to: socket, send: 'turn' }]);
    const answers = await remote.relay([
      say('one', { expect: '^one$' }),
      say('two', { expect: 'three' }),
      { to: socket, send: 'turn' },
    ]);
    assert.deepEqual(
      answers.map(({ last }) => [last.isMet, last.bytes.toString()]),
      [
        [true, 'one'],
        [false, 'two'],
      ],
    );
    const after = await texts([{ to: socket, send: 'turn' }]);
    assert.deepEqual([before, after], [['turn 1'], ['turn 2']]);
  });

  await t.test('it asks again until it is met, and tells each try', async () => {
    const [answer] = await remote.relay([
      { to: socket, send: 'turn', expect: 'turn 5$', until: { everyMs: 50, forMs: 20_000 } },
    ]);
    assert.deepEqual(
      answer?.tries.map(({ isMet, bytes }) => [isMet, bytes.toString()]),
      [
        [false, 'turn 3'],
        [false, 'turn 4'],
        [true, 'turn 5'],
      ],
    );
    // Twice 10 ms; its clock has steps of ten.
    assert.ok((answer?.last.atMs ?? 0) >= 10);
    const never = await remote.relay([
      say('no', { expect: 'yes', until: { everyMs: 50, forMs: 200 } }),
      say('next'),
    ]);
    assert.equal(never.length, 1);
    assert.ok((never[0]?.tries.length ?? 0) >= 2);
  });

  await t.test(
    'a socket that is not there, refuses, or does not answer in time is told in words',
    async () => {
      const problem = async (exchange: Exchange) => (await remote.relay([exchange]))[0]?.last;
      assert.equal(
        (await problem({ to: { path: '/run/none.sock' }, send: '' }))?.problem,
        'connect:No such file or directory',
      );
      assert.equal(
        (await problem({ to: { host: '127.0.0.1', port: 9 }, send: '' }))?.problem,
        'connect:Connection refused',
      );
      const hung = await problem({ to: socket, send: 'hang', timeoutMs: 300 });
      assert.deepEqual([hung?.problem, hung?.bytes.toString()], ['answer:timed out', 'half']);
      assert.equal(hung?.isMet, false);
    },
  );

  await t.test(
    'an HTTP answer that is whole is not waited on, though the connection stays open',
    async () => {
      const [answer] = await remote.relay([{ to: socket, send: 'http', timeoutMs: 20_000 }]);
      assert.equal(answer?.last.problem, null);
      assert.match(answer?.last.bytes.toString() ?? '', /^HTTP\/1\.1 200 OK.*ok$/s);
    },
  );

  await t.test('an answer is read up to its limit', async () => {
    const [cut, whole] = await texts([
      { to: socket, send: 'big 3000000', maxBytes: 1000 },
      { to: socket, send: 'big 3000000', maxBytes: 4_000_000 },
    ]);
    assert.deepEqual([cut?.length, whole?.length], [1000, 3_000_000]);
  });

  await t.test('one who was replaced talks to no socket', async () => {
    const scope = 'relay-test';
    const [turn = ''] = await texts([{ to: socket, send: 'turn' }]);
    await remote.relay([say('mine')], { fence: { scope, epoch: 5 } });
    await assert.rejects(
      remote.relay([{ to: socket, send: 'turn' }], { fence: { scope, epoch: 4 } }),
      failsWith('remote_fenced'),
    );
    const [next = ''] = await texts([{ to: socket, send: 'turn' }]);
    assert.equal(Number(next.slice(5)), Number(turn.slice(5)) + 1);
  });

  await t.test('a script goes ahead in the same trip; where it fails, nothing is exchanged', async () => {
    const [turn = ''] = await texts([{ to: socket, send: 'turn' }]);
    const given = `${"odd ' $(id) \\ é\n"}${'x'.repeat(100_000)}`;
    const text = 'cat >/run/relay-first; echo "$1 $2"; exit "$3"';
    const first = (code: number) => ({ text, args: ['it’s', '$(id)', String(code)], input: given });
    const [met] = await remote.relay([{ to: socket, send: 'turn' }], { first: first(0) });
    assert.equal(met?.last.bytes.toString(), `turn ${Number(turn.slice(5)) + 1}`);
    assert.equal(
      String(await remote.readFile('/run/relay-first')),
      given,
      'and gets no byte of what follows',
    );
    assert.deepEqual(await remote.relay([], { first: { text: 'true', args: [] } }), []);
    const asked = [{ to: socket, send: 'turn' }];
    await assert.rejects(
      remote.relay(asked, { first: first(3) }),
      failsWith('remote_failed', /exit code 3 /),
    );
    const own = new Error('its own');
    const failure = ({ code }: { code: number | null }) => (code === 4 ? own : undefined);
    await assert.rejects(remote.relay(asked, { first: { ...first(4), failure } }), own);
    await assert.rejects(
      remote.relay(asked, { first: first(0), fence: { scope: 'relay-test', epoch: 4 } }),
      failsWith('remote_fenced'),
    );
    const [next = ''] = await texts(asked);
    assert.equal(Number(next.slice(5)), Number(turn.slice(5)) + 2);
  });

  await t.test('what is sent stands in no list of processes and in no log of the server', async () => {
    const canary = 'canary-d41d8cd98f00b204';
    const relayed = remote.relay([{ to: socket, send: `hang ${canary}`, timeoutMs: 1_500 }], {
      secrets: [new Secret(canary)],
    });
    let isOver = false;
    void relayed.finally(() => {
      isOver = true;
    });
    const look = 'cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr "\\0" " "';
    const seen: string[] = [];
    while (!isOver) seen.push((await remote.output(['sh', '-c', look])).toString('latin1'));
    await relayed;
    assert.ok(seen.some((each) => each.includes('perl -e \nuse strict; use warnings; use Socket;')));
    assert.ok(!seen.some((each) => each.includes(canary)));
    const journal = await remote.output(['journalctl', '--no-pager', '-n', '2000'], { maxOutputBytes: 8e6 });
    assert.ok(!journal.includes(canary));
  });

  await t.test('a place that is not one is refused before anything is sent', async () => {
    for (const to of [{ path: '/run/a b' }, { host: 'localhost', port: 1 }, { path: '/x\n- /y' }])
      await assert.rejects(remote.relay([{ to, send: '' }]), failsWith('invalid_input'));
  });

  await t.test('it ends with the signal', async () => {
    const stop = new AbortController();
    const relayed = remote.relay([{ to: socket, send: 'hang' }], { signal: stop.signal });
    stop.abort(new Error('enough'));
    await assert.rejects(relayed, /enough/);
  });

  await t.test('a socket is a stream, too: both ways, to its end, or refused with the reason', async () => {
    const limits = { timeoutMs: 60_000, signal: new AbortController().signal };
    const place = { host: '127.0.0.1', port: 8099 };
    const { stdin, stdout, ended } = await connectSocket(remote, place, limits);
    stdin.write('big 3000000');
    assert.equal((await buffer(stdout)).length, 3_000_000);
    assert.equal((await ended).code, 0);
    await assert.rejects(
      connectSocket(remote, { ...place, port: 1 }, limits),
      failsWith('remote_failed', /connect: Connection refused/),
    );
    const stop = new AbortController();
    const hanging = await connectSocket(remote, place, { ...limits, signal: stop.signal });
    hanging.stdin.write('hang');
    assert.equal(String((await once(hanging.stdout, 'data'))[0]), 'half');
    stop.abort(new Error('enough'));
    await assert.rejects(hanging.ended, /enough/);
    const left = ['pgrep', '-f', '--', '^perl -e .*inet_aton.* 127\\.0\\.0\\.1 8099$'];
    await until(async () => (await remote.run(left)).code === 1, 'nothing of it to be left');
  });
});
