/** Trouble on purpose: paths that answer with an error, or late, until it is taken back. */
export interface Fault {
  readonly pathPrefix: string;
  /** `null` with a delay only delays; `null` without one takes the fault back. */
  readonly status: number | null;
  readonly delayMs?: number;
}

export class Faults {
  readonly #byPrefix = new Map<string, Fault>();

  set(fault: Fault): void {
    if (fault.status === null && !fault.delayMs) this.#byPrefix.delete(fault.pathPrefix);
    else this.#byPrefix.set(fault.pathPrefix, fault);
  }

  /** The longest prefix wins. */
  for(path: string): Fault | undefined {
    const found = [...this.#byPrefix.values()].filter(({ pathPrefix }) => path.startsWith(pathPrefix));
    return found.sort((one, other) => other.pathPrefix.length - one.pathPrefix.length)[0];
  }
}
