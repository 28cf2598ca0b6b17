import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { appendEvents } from '../../src/events/events.ts';
import type { WorkspaceId } from '../../src/ids.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { newPerson, type Person } from '../support/people.ts';
import { Random } from '../support/random.ts';
import { sharedTestApp } from '../support/shared-app.ts';
import { openStream } from '../support/sse.ts';

const eventCount = 10_000;
const writerCount = 8;
const readersEach = 10;

interface Home {
  readonly person: Person;
  readonly workspaceId: WorkspaceId;
  expected: number;
}

test('20 readers with random cuts, 10,000 events, 8 writers, two instances: each event once, in order', async (t) => {
  const one = await sharedTestApp();
  const two = await startTestApp(t, { beside: one });
  const homes = [await newHome(one), await newHome(one)];
  const [first] = homes;
  assert.ok(first);
  const random = new Random(20_261_115);

  let written = 0;
  const writers = Array.from({ length: writerCount }, async (_, writer) => {
    const { db } = (writer % 2 === 0 ? one : two).app.store;
    while (written < eventCount) {
      const home = random.pick(first, ...homes.slice(1));
      const size = random.between(1, 5);
      const events = Array.from({ length: size }, (_unused, index) => ({
        kind: 'tick',
        data: { writer, index },
      }));
      const fails = random.chance(0.05);
      const waits = random.chance(0.02);
      await db
        .transaction(async (tx) => {
          await appendEvents(tx, { workspaceId: home.workspaceId, feedId: home.workspaceId }, events);
          if (waits) await sleep(random.between(1, 15));
          if (fails) throw new Error('rolled back as planned');
        })
        .then(() => {
          home.expected += size;
          written += size;
        })
        .catch((error) => {
          if (!fails) throw error;
        });
    }
  });

  let done = false;
  const readers = homes.flatMap((home) =>
    Array.from({ length: readersEach }, async (_, reader) => {
      const seen: number[] = [];
      let cuts = 0;
      for (;;) {
        const at = (reader + cuts) % 2 === 0 ? one : two;
        const last = seen.at(-1) ?? 0;
        const stream = await openStream(`${at.url}/api/v1/events`, {
          token: home.person.token,
          lastEventId: last,
        });
        assert.equal(stream.status, 200, stream.body);
        let cutAfter = random.between(50, 950);
        for await (const { id, event } of stream.events()) {
          assert.equal(event, 'tick');
          seen.push(id);
          cutAfter -= 1;
          if (cutAfter === 0 || (done && seen.length >= home.expected)) break;
        }
        stream.close();
        if (done && seen.length >= home.expected) return { home, seen, cuts };
        cuts += 1;
      }
    }),
  );
  await Promise.all(writers);
  // One more for each, so that readers who wait at the end notice that it is the end.
  for (const home of homes) home.expected += 1;
  done = true;
  for (const { workspaceId } of homes) await one.app.store.db.transaction((tx) => tick(tx, workspaceId));

  const results = await Promise.all(readers);
  let cuts = 0;
  for (const { home, seen, cuts: own } of results) {
    const wanted = Array.from({ length: home.expected }, (_, index) => index + 1);
    assert.deepEqual(seen, wanted, 'every position once, in order, without a gap');
    cuts += own;
  }
  assert.ok(cuts > 20, `${cuts} cuts`);
  const total = homes.reduce((sum, home) => sum + home.expected, 0);
  t.diagnostic(`${total} events in the log, ${cuts} cuts, ${results.length} readers`);
});

function tick(tx: Parameters<typeof appendEvents>[0], workspaceId: WorkspaceId): Promise<void> {
  return appendEvents(tx, { workspaceId, feedId: workspaceId }, [{ kind: 'tick', data: {} }]);
}

async function newHome(service: TestApp): Promise<Home> {
  const person = await newPerson(service);
  const me = await service.call('GET', '/auth/me', { token: person.token });
  return { person, workspaceId: Object(me.body.workspaces)[0].id, expected: 0 };
}
