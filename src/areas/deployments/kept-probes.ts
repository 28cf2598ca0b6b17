/** The probes of a deployment, as they are kept and shown: the first ones, the last ones, and how many were between. */
import type { Probe } from '../../engine/health-probe.ts';

export interface KeptProbe extends Probe {
  readonly container: string;
  /** How many like it came between this one and the next. */
  readonly repeated: number;
}

const most = 60;

export class KeptProbes {
  #kept: KeptProbe[] = [];

  /** Equal ones in a row are kept once, with their number: a minute of refused connections is one line. */
  add(container: string, probe: Probe): void {
    const last = this.#kept.at(-1);
    if (last && last.container === container && isSame(last, probe)) {
      this.#kept[this.#kept.length - 1] = { ...last, repeated: last.repeated + 1 };
      return;
    }
    this.#kept.push({ container, ...probe, repeated: 0 });
    if (this.#kept.length > most) this.#kept.splice(most / 2, 1);
  }

  get all(): readonly KeptProbe[] {
    return this.#kept;
  }
}

function isSame(one: Probe, other: Probe): boolean {
  const fields = ['outcome', 'status', 'location', 'body', 'problem'] as const;
  return fields.every((field) => one[field] === other[field]);
}
