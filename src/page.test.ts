import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultOf } from '../test/support/faults.ts';
import { type AccountId, newId } from './ids.ts';
import { Page } from './page.ts';

const newestFirst = Array.from({ length: 7 }, () => ({ id: newId<AccountId>() })).reverse();
const idOf = (row: { readonly id: string }) => row.id;

/** What a query does with a page: one row more than the limit, below the cursor. */
function rowsOf(page: Page) {
  const { before, limit } = page;
  return newestFirst.filter((row) => row.id < before).slice(0, limit + 1);
}

test('a list without limit and cursor begins with the newest and shows fifty', () => {
  const page = new Page({});
  assert.equal(page.limit, 50);
  assert.deepEqual(rowsOf(page), newestFirst);
  assert.deepEqual(page.answer(newestFirst, idOf), { items: newestFirst.map(idOf), nextCursor: null });
});

test('following the cursors shows every row once, in order, and ends', () => {
  for (const limit of [1, 2, 3, 6, 7, 8]) {
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Page = new Page(cursor === null ? { limit } : { limit, cursor });
      const answer = page.answer(rowsOf(page), idOf);
      assert.ok(answer.items.length <= limit);
      seen.push(...answer.items);
      cursor = answer.nextCursor;
    } while (cursor !== null);
    assert.deepEqual(seen, newestFirst.map(idOf), `limit ${limit}`);
  }
});

test('an empty list has no next page', () => {
  assert.deepEqual(new Page({ limit: 5 }).answer([], idOf), { items: [], nextCursor: null });
});

test('a cursor that no list gave out is invalid input, told by its field', async () => {
  const made = ['', '!', 'abc', newId<AccountId>(), Buffer.from("' or 1=1").toString('base64url')];
  for (const cursor of made) {
    const fault = await faultOf(() => new Page({ cursor }));
    assert.equal(fault.code, 'invalid_input');
    assert.deepEqual(
      fault.errors?.map(({ path }) => path),
      ['cursor'],
    );
  }
});
