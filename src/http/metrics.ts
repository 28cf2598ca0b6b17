/**
 * Figures for Prometheus: how fast requests are answered and operations end in this process, and how much work waits in
 * the installation. The library is loaded after the start, so that nobody waits for it.
 */
import type { Counter, Gauge, Histogram } from 'prom-client';
import { Fault } from '../fault.ts';
import { once } from '../once.ts';
import type { Backlog } from '../operations/backlog.ts';

interface WorkGauges {
  readonly unfinished: Gauge<'kind' | 'state'>;
  readonly longestWait: Gauge;
  readonly database: Gauge;
}

export class Metrics {
  #requests: Histogram<'method' | 'route' | 'status'> | undefined;
  #failures: Counter | undefined;
  #ended: Histogram<'kind' | 'state'> | undefined;
  readonly #readBacklog: () => Promise<Backlog>;

  constructor(readBacklog: () => Promise<Backlog>) {
    this.#readBacklog = readBacklog;
  }

  readonly load = once(async () => {
    const { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } = await import('prom-client');
    const registry = new Registry();
    const registers = [registry];
    collectDefaultMetrics({ register: registry, prefix: 'slipway_' });
    this.#requests = new Histogram({
      name: 'slipway_http_request_seconds',
      help: 'Time to answer a request, by route and status.',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
    });
    this.#failures = new Counter({
      name: 'slipway_http_failures_total',
      help: 'Requests that the service itself failed, and not what a user named: the cause is in the log.',
      registers,
    });
    this.#ended = new Histogram({
      name: 'slipway_operation_seconds',
      help: 'Time from the input to its end, of what ended in this process, by kind and state.',
      labelNames: ['kind', 'state'],
      buckets: [1, 5, 15, 30, 60, 120, 300, 600, 1_800, 3_600],
      registers,
    });
    const unfinished = new Gauge({
      name: 'slipway_operations_unfinished',
      help: 'Operations of the whole installation that have not ended, by kind and state.',
      labelNames: ['kind', 'state'],
      registers,
    });
    const longestWait = new Gauge({
      name: 'slipway_operations_longest_wait_seconds',
      help: 'For how long the work that waits longest has been due, with nobody at it.',
      registers,
    });
    const database = new Gauge({
      name: 'slipway_database_up',
      help: 'Whether the database answered just now.',
      registers,
    });
    return { registry, gauges: { unfinished, longestWait, database } };
  });

  count(method: string, route: string | undefined, status: number, ms: number): void {
    this.#requests?.observe({ method, route: route ?? 'unknown', status }, ms / 1000);
  }

  countFailure(): void {
    this.#failures?.inc();
  }

  countEnd(kind: string, state: string, seconds: number): void {
    this.#ended?.observe({ kind, state }, seconds);
  }

  async told(): Promise<{ type: string; text: string }> {
    const { registry, gauges } = await this.load();
    await this.#look(gauges);
    return { type: registry.contentType, text: await registry.metrics() };
  }

  /**
   * Without its database the process still has figures of its own; of the work, no figure is better than an old one. All
   * are set in one go: who asks at the same time sees none of them half.
   */
  async #look({ unfinished, longestWait, database }: WorkGauges): Promise<void> {
    const work = await this.#workOrNone();
    unfinished.reset();
    longestWait.remove();
    database.set(work ? 1 : 0);
    if (!work) return;
    for (const { kind, state, count } of work.unfinished) unfinished.set({ kind, state }, count);
    longestWait.set(work.longestWaitSeconds);
  }

  async #workOrNone(): Promise<Backlog | undefined> {
    try {
      return await this.#readBacklog();
    } catch (error) {
      if (error instanceof Fault && error.code === 'database_unavailable') return undefined;
      throw error;
    }
  }
}
