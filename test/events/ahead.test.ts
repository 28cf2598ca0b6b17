import assert from 'node:assert/strict';
import { test } from 'node:test';
import { appendEvents, feedName, type StoredEvent } from '../../src/events/events.ts';
import { FeedHub, type Subscriber } from '../../src/events/feed-hub.ts';
import { createLog } from '../../src/log.ts';
import { migratedDatabase } from '../support/database.ts';
import { newWorkspace } from '../support/operations.ts';
import { until } from '../support/until.ts';

test('a reader who saw more at another instance gets nothing twice from one that is behind', async (t) => {
  const { db } = await migratedDatabase(t);
  const workspaceId = await newWorkspace(db);
  const feed = { workspaceId, feedId: workspaceId };
  const append = (count: number) =>
    db.transaction((tx) =>
      appendEvents(
        tx,
        feed,
        Array.from({ length: count }, () => ({ kind: 'tick', data: {} })),
      ),
    );
  const hub = new FeedHub(db, createLog('silent'), ({ position }) => `${position} `);
  const follow = (position: number) => {
    const seen: number[] = [];
    const subscriber: Subscriber = {
      feed,
      position,
      take: (events: readonly StoredEvent[], bytes: Buffer) => {
        seen.push(...events.map((event) => event.position));
        assert.equal(bytes.toString(), events.map((event) => `${event.position} `).join(''));
        return true;
      },
      drained: async () => undefined,
    };
    hub.subscribe(subscriber);
    return seen;
  };
  await append(5);
  const first = follow(0);
  await until(async () => (first.length === 5 ? true : undefined), 'what is there');
  // Three more, of which this instance has not heard; the other one told a reader of two of them.
  await append(3);
  const second = follow(7);
  hub.onNotify(`${feedName(feed)} 8`);
  await until(async () => (first.length === 8 ? true : undefined), 'the news');
  assert.deepEqual(first, [1, 2, 3, 4, 5, 6, 7, 8]);
  assert.deepEqual(second, [8]);
  hub.stop();
});
