import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultOf } from '../../../test/support/faults.ts';
import { Handover } from '../../handover.ts';
import { Secret } from '../../secret.ts';
import type { Fence, Remote, UnitOutput, UnitState } from '../remote.ts';
import { withSecrets } from '../with-secrets.ts';
import { mostUnitBytes } from './bounded-output.ts';
import { followUnit } from './follow-unit.ts';

const input = {
  name: 'slipway-x',
  argv: ['true'],
  fence: { scope: 'server-a', epoch: 3 },
  what: 'Pulling the image redis:8',
};
const running: UnitState = { kind: 'running' };
const ended = (code: number): UnitState => ({ kind: 'ended', code });
const never = () => assert.fail('nobody asks for this');

/** A server with one unit, which prints a part at each reading and says after the last how it ended. */
class FakeUnit {
  readonly calls: string[] = [];
  readonly #parts: readonly Buffer[];
  readonly #end: UnitState;
  readonly #onRead: (turn: number) => void;
  #turn = 0;
  #from = 0;

  constructor(
    parts: readonly (string | Buffer)[],
    end: UnitState,
    onRead: (turn: number) => void = () => undefined,
  ) {
    this.#parts = parts.map((part) => Buffer.from(part));
    this.#end = end;
    this.#onRead = onRead;
  }

  readonly remote: Remote = {
    secrets: [],
    run: never,
    output: never,
    script: never,
    stream: never,
    writeFile: never,
    readFile: never,
    fence: never,
    relay: never,
    startUnit: async ({ name }) => {
      this.calls.push(`start ${name}`);
      return this.#read(0);
    },
    stopUnit: async (name: string, fence?: Fence) => void this.calls.push(`stop ${name} at ${fence?.epoch}`),
    readUnit: (_name, from) => this.#read(from),
  };

  async #read(from: number): Promise<UnitOutput> {
    assert.equal(from, this.#from, 'it is read on from where the last reading ended');
    this.#onRead(this.#turn);
    const bytes = this.#parts[this.#turn] ?? Buffer.alloc(0);
    this.#turn += 1;
    this.#from += bytes.length;
    const state = this.#turn < this.#parts.length ? running : this.#end;
    return { state, bytes, next: this.#from };
  }
}

async function follow(
  unit: FakeUnit,
  secrets: readonly Secret[] = [],
  signal = new AbortController().signal,
) {
  const lines: string[] = [];
  const line = (text: string) => void lines.push(text);
  const end = followUnit(unit.remote, input, { signal, secrets, line });
  return { lines, end: await end.catch((error: unknown) => error) };
}

test('lines are told whole wherever the parts end, each once, and the unit is forgotten', async () => {
  const ship = Buffer.from('one \u{1f6a2}\ntwo\n\nlast, without an end');
  const unit = new FakeUnit([ship.subarray(0, 6), ship.subarray(6, 10), '', ship.subarray(10)], ended(0));
  assert.deepEqual(await follow(unit), {
    lines: ['one \u{1f6a2}', 'two', '', 'last, without an end'],
    end: undefined,
  });
  assert.deepEqual(unit.calls, ['start slipway-x', 'stop slipway-x at 3']);
});

test('a line without end is told in pieces', async () => {
  const { lines } = await follow(new FakeUnit(Array(5).fill('x'.repeat(10_000)), ended(0)));
  assert.deepEqual([lines.join('').length, lines.length], [50_000, 4]);
});

test('a failure carries the code and the last lines, and leaves nothing behind', async () => {
  const unit = new FakeUnit(['lost in time\n'.repeat(20), 'it broke\n'], ended(7));
  const fault = await faultOf(async () => {
    throw (await follow(unit)).end;
  });
  assert.equal(fault.message, 'Pulling the image redis:8 failed on the server with exit code 7.');
  assert.match(fault.hint ?? '', /evidence/);
  assert.equal(fault.evidence?.split('\n').length, 15);
  assert.match(fault.evidence ?? '', /it broke$/);
  assert.deepEqual(unit.calls.at(-1), 'stop slipway-x at 3');

  const gone = await follow(new FakeUnit(['half\n'], { kind: 'absent' }));
  assert.match(String(gone.end), /was interrupted/);
});

test('secrets show neither in the lines nor in the evidence, also cut by a reading or a line', async () => {
  const secrets = [new Secret('hunter2-hunter2'), new Secret('first line\nsecond line')];
  const parts = ['a hunter2-h', 'unter2 b\nfirst li', 'ne\nsecond line, and\n', 'hunter2-', 'hunter2'];
  const { lines, end } = await follow(new FakeUnit(parts, ended(1)), secrets);
  assert.deepEqual(lines, ['a [secret] b', '[secret], and', '[secret]']);
  const { evidence } = await faultOf(() => {
    throw end;
  });
  assert.equal(evidence, lines.join('\n'));
});

test('whoever has a server send more than it should keep is not read on, and the end is still met', async () => {
  const part = Buffer.alloc(1024 * 1024, 'x'.repeat(1_000).concat('\n'));
  const { lines, end } = await follow(new FakeUnit(Array(20).fill(part), ended(0)));
  assert.equal(end, undefined);
  const told = lines.reduce((sum, line) => sum + line.length + 1, 0);
  assert.ok(told <= mostUnitBytes + 1 && told > mostUnitBytes - 2_000, String(told));
});

test('secrets that the remote knows show nowhere, whoever follows', async () => {
  const unit = new FakeUnit(['POSTGRES_PASSWORD=hunter2-hunter2\n'], ended(1));
  const known = { ...unit, remote: withSecrets(unit.remote, [new Secret('hunter2-hunter2')]) };
  const lines: string[] = [];
  const options = { signal: new AbortController().signal, line: (text: string) => void lines.push(text) };
  const { evidence } = await faultOf(() => followUnit(known.remote, input, options));
  assert.deepEqual([lines, evidence], [['POSTGRES_PASSWORD=[secret]'], 'POSTGRES_PASSWORD=[secret]']);
});

test('aborted, it ends the unit without waiting for the reading, and says why', async () => {
  const abort = new AbortController();
  const hung = new FakeUnit(['begun\n', 'more\n'], ended(0), (turn) => {
    if (turn === 1) abort.abort(new Error('cancelled'));
  });
  const slow: Remote = {
    ...hung.remote,
    readUnit: async (name, from) => {
      const read = await hung.remote.readUnit(name, from);
      return abort.signal.aborted ? new Promise<never>(() => undefined) : read;
    },
  };
  const lines: string[] = [];
  const line = (text: string) => void lines.push(text);
  await assert.rejects(followUnit(slow, input, { signal: abort.signal, line }), /cancelled/);
  assert.deepEqual(lines, ['begun']);
  assert.deepEqual(hung.calls, ['start slipway-x', 'stop slipway-x at 3']);
});

test('a reading that fails leaves the unit alone: whoever comes next joins it', async () => {
  const unit = new FakeUnit(['begun\n', 'more\n'], ended(0), (turn) => {
    if (turn === 1) throw new Error('the connection broke off');
  });
  const { lines, end } = await follow(unit);
  assert.deepEqual(lines, ['begun']);
  assert.match(String(end), /broke off/);
  assert.deepEqual(unit.calls, ['start slipway-x']);
});

test('a unit goes on when another worker takes over, and is stopped when it is not wanted any more', async () => {
  for (const [reason, isStopped] of [
    [new Handover('the service stops'), false],
    [new Error('cancel'), true],
  ] as const) {
    const stop = new AbortController();
    const unit = new FakeUnit(
      ['one\n', 'two\n', 'three\n'],
      ended(0),
      (turn) => turn === 1 && stop.abort(reason),
    );
    assert.equal((await follow(unit, [], stop.signal)).end, reason);
    assert.equal(unit.calls.includes('stop slipway-x at 3'), isStopped, reason.message);
  }
});
