/** Deliveries, kept one file each: a record of what was sent and answered outlives the host. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { writeJsonWhole } from '../state.ts';

/** As many as a person could want to look through; the oldest go first. */
const mostKept = 250;

const Headers = Type.Record(Type.String(), Type.String());

const Delivery = Type.Object({
  id: Type.Integer(),
  hookId: Type.Integer(),
  repositoryId: Type.Integer(),
  guid: Type.String(),
  event: Type.String(),
  url: Type.String(),
  deliveredAt: Type.String(),
  redelivery: Type.Boolean(),
  seconds: Type.Number(),
  status: Type.String(),
  statusCode: Type.Integer(),
  request: Type.Object({ headers: Headers, payload: Type.Record(Type.String(), Type.Unknown()) }),
  response: Type.Object({ headers: Headers, payload: Type.String() }),
});

export type Delivery = Static<typeof Delivery>;

export class DeliveryStore {
  readonly #folder: string;
  readonly #byHook = new Map<number, Delivery[]>();
  #lastId = 0;

  constructor(dir: string) {
    // No login begins with a dot, so that the folder is in no owner's way.
    this.#folder = join(dir, '.deliveries');
    mkdirSync(this.#folder, { recursive: true });
    for (const name of readdirSync(this.#folder).filter((each) => each.endsWith('.json'))) {
      const delivery = readDelivery(join(this.#folder, name));
      this.#lastId = Math.max(this.#lastId, delivery.id);
      this.#of(delivery.hookId).push(delivery);
    }
    for (const deliveries of this.#byHook.values()) deliveries.sort((one, other) => one.id - other.id);
  }

  nextId(): number {
    return ++this.#lastId;
  }

  /** Newest first. */
  list(hookId: number): Delivery[] {
    return [...(this.#byHook.get(hookId) ?? [])].reverse();
  }

  find(hookId: number, id: number): Delivery | undefined {
    return this.#byHook.get(hookId)?.find((delivery) => delivery.id === id);
  }

  add(delivery: Delivery): void {
    writeJsonWhole(this.#path(delivery), delivery);
    const kept = this.#of(delivery.hookId);
    kept.push(delivery);
    for (const old of kept.splice(0, Math.max(0, kept.length - mostKept))) rmSync(this.#path(old));
  }

  forget(hookId: number): void {
    for (const delivery of this.#byHook.get(hookId) ?? []) rmSync(this.#path(delivery));
    this.#byHook.delete(hookId);
  }

  #of(hookId: number): Delivery[] {
    const found = this.#byHook.get(hookId) ?? [];
    this.#byHook.set(hookId, found);
    return found;
  }

  #path({ hookId, id }: Delivery): string {
    return join(this.#folder, `${hookId}-${id}.json`);
  }
}

function readDelivery(path: string): Delivery {
  const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
  if (!Value.Check(Delivery, value)) throw new Error(`${path} is not the record of a delivery.`);
  return value;
}
