import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from 'ssh2';
import { Fault, type FaultCode } from '../../fault.ts';
import { newId, type ServerId } from '../../ids.ts';
import { createLog } from '../../log.ts';
import { Secret } from '../../secret.ts';
import { Connection } from './connection.ts';
import { type Deadline, raceAbort } from './deadline.ts';
import { Link } from './link.ts';

const target = {
  serverId: newId<ServerId>(),
  host: 'server.test',
  port: 22,
  username: 'root',
  privateKey: new Secret('none'),
  hostKey: 'SHA256:none',
};
const hostKey = { fingerprint: target.hostKey, type: 'ssh-ed25519' };

/** A link whose time stands still but for its own pauses, to a server that fails as often as it is told. */
class Trial {
  readonly pauses: number[] = [];
  attempts = 0;
  failWith: FaultCode | undefined;
  failures = 0;
  clients: Client[] = [];
  #now = 1_000_000;
  readonly #owner = {};
  readonly link = new Link(target, async () => [], createLog('silent'), {
    now: () => this.#now,
    pause: async (ms) => {
      this.pauses.push(ms);
      this.#now += ms;
    },
    connect: async () => {
      this.attempts += 1;
      if (this.failWith && this.failures > 0) {
        this.failures -= 1;
        throw new Fault(this.failWith, `failure ${this.attempts}`);
      }
      const client = new Client();
      this.clients.push(client);
      return new Connection(client, hostKey, true);
    },
  });

  /** One use of the connection by someone who waits so long. */
  use(withinMs = 600_000): Promise<Connection> {
    const { signal } = new AbortController();
    const deadline: Deadline = {
      signal,
      endsAt: this.#now + withinMs,
      race: (work) => raceAbort(work, signal),
      clear: () => undefined,
    };
    return this.link.withChannel(this.#owner, 'command', deadline, async (connection, free) => {
      free();
      return connection;
    });
  }

  pass(ms: number): void {
    this.#now += ms;
  }

  /** What a broken socket does to the library. */
  break(): void {
    this.clients.at(-1)?.emit('close');
  }

  fail(code: FaultCode, times: number): void {
    this.failWith = code;
    this.failures = times;
  }
}

test('each failure doubles the pause before the next attempt, up to half a minute', async () => {
  const trial = new Trial();
  trial.fail('port_refused', 9);
  for (let count = 0; count < 9; count += 1) await assert.rejects(trial.use(), { code: 'port_refused' });
  assert.deepEqual(trial.pauses, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  assert.equal(trial.attempts, 9);
});

test('a connection that stands ends the pauses, and the next failure begins with the shortest', async () => {
  const trial = new Trial();
  trial.fail('remote_unreachable', 3);
  for (let count = 0; count < 3; count += 1) await assert.rejects(trial.use());
  const first = await trial.use();
  assert.equal(await trial.use(), first);
  assert.equal(trial.attempts, 4);
  trial.break();
  // One that broke is made again at once: only failures to make it count.
  assert.notEqual(await trial.use(), first);
  assert.deepEqual(trial.pauses, [500, 1_000, 2_000]);
  trial.break();
  trial.fail('remote_unreachable', 1);
  await assert.rejects(trial.use());
  await trial.use();
  assert.deepEqual(trial.pauses.slice(3), [500]);
});

test('who cannot wait for the next attempt hears of the last one at once', async () => {
  const trial = new Trial();
  trial.fail('port_filtered', 5);
  for (let count = 0; count < 5; count += 1) await assert.rejects(trial.use());
  const [attempts, pauses] = [trial.attempts, trial.pauses.length];
  await assert.rejects(trial.use(7_999), { code: 'port_filtered', message: 'failure 5' });
  assert.deepEqual([trial.attempts, trial.pauses.length], [attempts, pauses]);
  await trial.use(8_001);
  assert.equal(trial.pauses.at(-1), 8_000);
});

test('what no new attempt would change is not tried again before its time, so nobody is shut out for it', async () => {
  const lasting = ['host_key_changed', 'login_refused', 'name_not_resolved', 'ssh_algorithms_weak'] as const;
  for (const code of lasting) {
    const trial = new Trial();
    trial.fail(code, 1);
    for (let count = 0; count < 5; count += 1) await assert.rejects(trial.use(), { code });
    assert.deepEqual([trial.attempts, trial.pauses], [1, []], code);
    trial.pass(500);
    await trial.use();
  }
});

test('eight who come at once make one connection, and share its failure', async () => {
  const trial = new Trial();
  trial.fail('port_refused', 1);
  const ends = await Promise.allSettled(Array.from({ length: 8 }, () => trial.use()));
  assert.ok(ends.every(({ status }) => status === 'rejected'));
  const found = await Promise.all(Array.from({ length: 8 }, () => trial.use()));
  assert.equal(new Set(found).size, 1);
  assert.equal(trial.attempts, 2);
});
