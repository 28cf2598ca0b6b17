/**
 * The looks of this instance. Twice a second it takes some of what is due and no other instance has, and does not wait
 * for it: a server that hangs keeps no other waiting. How many it takes is what limits the work after a pause, when
 * everything is due at once; with what is taken at a time, it is enough for 14,000 environments a minute.
 */
import { errorText, Fault } from '../../fault.ts';
import { WakeLoop } from '../../wake-loop.ts';
import type { ReconcileContext } from './reconcile.ts';
import { reconcileDue } from './reconcile-environments.ts';

const everyMs = 500;

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
    const look: Promise<void> = this.#look().finally(() => this.#underWay.delete(look));
    this.#underWay.add(look);
    return everyMs;
  }

  async #look(): Promise<void> {
    try {
      await reconcileDue(this.#ctx, this.#stop.signal);
    } catch (error) {
      const { log } = this.#ctx;
      // The next one is half a second away, and what was not looked at is due again in a minute.
      if (error instanceof Fault) log.warn({ reason: errorText(error) }, 'could not look at what runs');
      else log.error({ err: error }, 'a look at what runs failed');
    }
  }
}
