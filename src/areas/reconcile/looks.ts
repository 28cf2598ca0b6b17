/**
 * The looks of this instance. Twice a second it takes some of what is due and no other instance has, and does not wait
 * for it: a server that hangs keeps no other waiting. That is enough for 14,000 environments a minute, and not more
 * after a pause, when everything is due at once. Where it cannot keep up it takes less: looks that are begun and time
 * out would be work for nothing.
 */
import { errorText, Fault } from '../../fault.ts';
import { WakeLoop } from '../../wake-loop.ts';
import type { ReconcileContext } from './reconcile.ts';
import { beginLooks } from './reconcile-environments.ts';

const everyMs = 500;
const mostServers = 100;
/** The database is away, say. */
const retryMs = 5_000;

export class Looks {
  readonly #ctx: ReconcileContext;
  readonly #loop = new WakeLoop(() => this.#round());
  readonly #stop = new AbortController();
  readonly #underWay = new Set<Promise<void>>();

  constructor(ctx: ReconcileContext) {
    this.#ctx = ctx;
  }

  start(): void {
    this.#loop.start();
  }

  /** What is broken off is due again within the minute. */
  async stop(): Promise<void> {
    this.#stop.abort(new Fault('shutting_down', 'The service is stopping.'));
    await this.#loop.stop();
    await Promise.all(this.#underWay);
  }

  async #round(): Promise<number> {
    if (this.#underWay.size >= mostServers) return everyMs;
    try {
      for (const look of await beginLooks(this.#ctx, this.#stop.signal)) this.#watch(look);
      return everyMs;
    } catch (error) {
      this.#ctx.log.warn(
        { reason: errorText(error) },
        'could not read what is to be looked at, trying again',
      );
      return retryMs;
    }
  }

  /** What was not looked at is due again within the minute. */
  #watch(look: Promise<void>): void {
    const watched: Promise<void> = look
      .catch((error: unknown) => this.#ctx.log.error({ err: error }, 'a look at what runs failed'))
      .finally(() => this.#underWay.delete(watched));
    this.#underWay.add(watched);
  }
}
