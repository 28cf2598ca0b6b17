/**
 * How a host breaks operations of any kind, as its parent orders: a step fails after it has acted, steps run twice,
 * or the process kills itself at an entry of the journal. Kinds are met where the service takes them in, so that those
 * of every area can be broken without being named here.
 */
import { existsSync, unlinkSync } from 'node:fs';
import { Fault } from '../../src/fault.ts';
import type { BoundStep, OperationKind } from '../../src/operations/definition.ts';
import type { JournalHook } from '../../src/operations/journal.ts';
import { OperationKinds } from '../../src/operations/kinds.ts';

export interface KillPoint {
  readonly moment: 'before' | 'after';
  readonly entry: string;
}

export interface Order {
  /** The step that acts and then fails, always. */
  readonly failAt?: string;
  /** Every step does its work twice. */
  readonly twice?: boolean;
  /** The write of the journal at which whoever comes there first dies. */
  readonly killAt?: KillPoint & { readonly token: string };
}

let order: Order = {};

/** To be called before the service starts. */
export function takeOrders(): void {
  process.on('message', (wanted: Order) => {
    order = wanted;
    process.send?.('heard');
  });
  // Orders alone keep nobody alive.
  process.channel?.unref();
  const add = OperationKinds.prototype.add;
  OperationKinds.prototype.add = function (kind: OperationKind) {
    add.call(this, breakable(kind));
  };
}

/** Once among all hosts: the one that can take the token away dies, and whoever inherits the operation may end it. */
export const dieIfOrdered: JournalHook = (moment, entry) => {
  const { killAt } = order;
  if (killAt?.moment !== moment || killAt.entry !== entry || !existsSync(killAt.token)) return;
  unlinkSync(killAt.token);
  process.kill(process.pid, 'SIGKILL');
};

function breakable(kind: OperationKind): OperationKind {
  return { ...kind, bind: (stored) => kind.bind(stored).map(breakableStep) };
}

function breakableStep(step: BoundStep): BoundStep {
  const fails = order.failAt === step.name;
  const isTwice = order.twice === true;
  return {
    ...step,
    // One failure is what is wanted, not the pauses before further tries.
    retry: fails ? undefined : step.retry,
    run: async (context) => {
      if (isTwice) await step.run(context);
      const output = await step.run(context);
      if (!fails) return output;
      throw new Fault('bad_request', `${step.name} failed as ordered.`, { evidence: 'the order' });
    },
  };
}
