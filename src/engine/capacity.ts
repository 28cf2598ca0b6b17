/**
 * What a server can give to containers, and what each of them may take of it. Pure. No container runs without a limit:
 * one that eats memory or burns processor time must not take the server down, nor the way in to it.
 */

export interface Capacity {
  readonly memoryMb: number;
  readonly cpus: number;
}

/** One of which nothing is known yet counts as small. */
export function capacityOf(facts: Capacity | null): Capacity {
  return { memoryMb: facts?.memoryMb || 1_024, cpus: facts?.cpus || 1 };
}

/**
 * All but the reserve: for the kernel, sshd, Docker itself and the proxy. A tenth of the memory, at least 256 MB and at
 * most 1 GB (of a server with hardly more than that, half of it), and a tenth of the processors.
 */
export function forContainers({ memoryMb, cpus }: Capacity): Capacity {
  const reserveMb = Math.min(Math.max(256, memoryMb / 10), 1_024, memoryMb / 2);
  return { memoryMb: Math.floor(memoryMb - reserveMb), cpus: Math.floor(cpus * 90) / 100 };
}

export interface Limit {
  readonly limit: number;
  /** `server`: what was set is more than the server can give. */
  readonly source: 'setting' | 'default' | 'server';
}

export interface WantedLimits {
  readonly memoryMb: number | null;
  readonly cpus: number | null;
}

/**
 * By default three quarters of the memory for containers, and all of their processors: limits are no reservations, one
 * alone may use what is there. Of several that want it all at once, the one that has most is ended first.
 */
export function limitsOf(wanted: WantedLimits, server: Capacity): { memoryMb: Limit; cpus: Limit } {
  const all = forContainers(server);
  const memoryMb = Math.min(all.memoryMb, Math.max(512, Math.floor((all.memoryMb * 3) / 4)));
  return {
    memoryMb: limitOf(wanted.memoryMb, memoryMb, all.memoryMb),
    cpus: limitOf(wanted.cpus, all.cpus, all.cpus),
  };
}

function limitOf(set: number | null, standard: number, most: number): Limit {
  if (set === null) return { limit: standard, source: 'default' };
  return set > most ? { limit: most, source: 'server' } : { limit: set, source: 'setting' };
}
