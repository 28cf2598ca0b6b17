/** What the tests of this folder share: deliveries as hosts document them, and the one push in an answer. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Delivery, PushDelivery } from '../../src/adapters/git-hosts/webhooks/delivery.ts';

interface Recorded {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export function recorded(name: string): Recorded {
  const path = new URL(`../../src/adapters/git-hosts/webhooks/fixtures/${name}.json`, import.meta.url);
  const value: Recorded = JSON.parse(readFileSync(path, 'utf8'));
  return value;
}

export function push(deliveries: readonly Delivery[]): PushDelivery {
  const [first] = deliveries;
  assert.ok(deliveries.length === 1 && first?.type === 'push', `${deliveries.length} ${first?.type}`);
  return first;
}
