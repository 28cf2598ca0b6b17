/**
 * Webhooks. Owns who is told of an event, and the record of every delivery; refuses to repeat one on its own.
 * A hook gets its deliveries one after the other, in the order of the events, which GitHub does not promise.
 */
import { randomUUID } from 'node:crypto';
import type { Hook, Store } from '../state.ts';
import { timestamp } from '../state.ts';
import { type Delivery, DeliveryStore } from './delivery-store.ts';
import { requestBody, requestHeaders, send } from './send.ts';

type Payload = Record<string, unknown>;

export class Webhooks {
  readonly deliveries: DeliveryStore;
  readonly #store: Store;
  readonly #onError: (error: unknown) => void;
  readonly #stop = new AbortController();
  /** The end of what each hook still has to get. */
  readonly #queues = new Map<number, Promise<void>>();

  constructor(store: Store, onError: (error: unknown) => void) {
    this.#store = store;
    this.#onError = onError;
    this.deliveries = new DeliveryStore(store.dir);
  }

  listeners(repositoryId: number, event: string): Hook[] {
    return this.#store.state.hooks.filter(
      (hook) =>
        hook.repositoryId === repositoryId &&
        hook.active &&
        (hook.events.includes(event) || hook.events.includes('*')),
    );
  }

  publish(repositoryId: number, event: string, payload: Payload): void {
    for (const hook of this.listeners(repositoryId, event)) this.deliver(hook, event, payload);
  }

  deliver(hook: Hook, event: string, payload: Payload): void {
    this.#enqueue(hook, { event, payload, guid: randomUUID(), redelivery: false });
  }

  /** The same event with the same GUID, signed with the secret the hook has now. */
  redeliver(hook: Hook, { event, guid, request }: Delivery): void {
    this.#enqueue(hook, { event, payload: request.payload, guid, redelivery: true });
  }

  /** Resolves when nothing is on its way any more. */
  async idle(): Promise<void> {
    while (this.#queues.size > 0) await Promise.all(this.#queues.values());
  }

  /** What could not be delivered any more is in the record as failed, and can be delivered again. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.idle();
  }

  #enqueue(hook: Hook, what: { event: string; payload: Payload; guid: string; redelivery: boolean }): void {
    const before = this.#queues.get(hook.id) ?? Promise.resolve();
    const mine = before.then(() => this.#send(hook, what)).catch(this.#onError);
    this.#queues.set(hook.id, mine);
    void mine.then(() => {
      if (this.#queues.get(hook.id) === mine) this.#queues.delete(hook.id);
    });
  }

  async #send(
    hook: Hook,
    {
      event,
      payload,
      guid,
      redelivery,
    }: { event: string; payload: Payload; guid: string; redelivery: boolean },
  ): Promise<void> {
    const { url, id: hookId, repositoryId } = hook;
    const body = requestBody(hook, payload);
    const headers = requestHeaders(hook, event, guid, body);
    const deliveredAt = new Date().toISOString();
    const outcome = await send(hook, headers, body, this.#stop.signal);
    // A hook that was deleted meanwhile has no record to keep.
    if (!this.#store.state.hooks.includes(hook)) return;
    const { seconds, status, statusCode } = outcome;
    const response = { headers: outcome.headers, payload: outcome.payload };
    const what = { hookId, repositoryId, guid, event, url, deliveredAt, redelivery };
    const id = this.deliveries.nextId();
    const request = { headers, payload };
    this.deliveries.add({ ...what, id, seconds, status, statusCode, request, response });
    hook.lastResponse = { code: statusCode, status: status === 'OK' ? 'active' : 'failed', message: status };
    this.#store.save();
  }
}

export function newHook(fields: Omit<Hook, 'createdAt' | 'updatedAt' | 'lastResponse'>): Hook {
  const now = timestamp();
  return {
    ...fields,
    createdAt: now,
    updatedAt: now,
    lastResponse: { code: null, status: 'unused', message: null },
  };
}
