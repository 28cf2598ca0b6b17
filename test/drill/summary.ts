/** What a run of the drill comes to: faults by kind, operations by kind and end, and requests. */
import { type FaultKind, toldFaults } from './faults.ts';
import type { Wave, WavePlan } from './wave.ts';

export class Summary {
  readonly bad: number[] = [];
  faults = 0;
  readonly #begunAt = Date.now();
  readonly #byFault = new Map<FaultKind, number>();
  readonly #byEnd = new Map<string, Map<string, number>>();
  #waves = 0;
  #answered = 0;
  #excused = 0;
  #looks = 0;

  caused(kind: FaultKind): void {
    this.faults += 1;
    this.#byFault.set(kind, (this.#byFault.get(kind) ?? 0) + 1);
  }

  /** The line of a wave that went well. */
  took(number: number, { faults }: WavePlan, { operations, ms, answered, excused, looks }: Wave): string {
    this.#waves += 1;
    this.#answered += answered;
    this.#excused += excused;
    this.#looks += looks;
    for (const { kind, state, fault } of operations) {
      const ends = this.#byEnd.get(kind) ?? new Map<string, number>();
      this.#byEnd.set(kind, ends);
      const end = fault ? `${state} (${fault.code})` : state;
      ends.set(end, (ends.get(end) ?? 0) + 1);
    }
    const seconds = (ms / 1_000).toFixed(0);
    const ended = [...Map.groupBy(operations, ({ kind, state }) => `${kind} ${state}`)]
      .map(([what, all]) => `${all.length} ${what}`)
      .sort()
      .join(', ');
    const lost = excused > 0 ? `, ${excused} excused` : '';
    return `wave ${number}: ${seconds} s; ${toldFaults(faults)}; ${ended}; ${answered} answered${lost}; ${this.faults} faults so far`;
  }

  told(seed: number): string {
    const minutes = ((Date.now() - this.#begunAt) / 60_000).toFixed(0);
    const lines = [
      `Seed ${seed}: ${this.faults} faults in ${this.#waves + this.bad.length} waves and ${minutes} minutes; ${this.bad.length} waves bad${this.bad.length > 0 ? ` (${this.bad.join(', ')})` : ''}.`,
      ...[...this.#byFault].sort().map(([kind, count]) => `fault ${kind}: ${count}`),
      ...[...this.#byEnd]
        .sort()
        .map(([kind, ends]) => `${kind}: ${[...ends].map(([end, count]) => `${count} ${end}`).join(', ')}`),
      `${this.#answered} requests answered, ${this.#excused} excused while a proxy was down or its server had just come back, ${this.bad.length > 0 ? 'see the bad waves for those that failed' : 'none failed'}.`,
      `${this.#looks} looks at the history while it was made.`,
    ];
    return lines.join('\n');
  }
}
