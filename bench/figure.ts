/**
 * A figure of the bench: ours, what stands beside it, and what was aimed at. The ratio and whether the aim is met are
 * computed from what was measured; there is no place to write them by hand.
 */
export type Unit = 'count' | 'KB' | 'GB' | 'MB' | 'MB/s' | 'ms' | 's' | 'per second';

export interface Amount {
  readonly value: number;
  readonly unit: Unit;
}

/** All that are given have to hold. Amounts are in the unit of ours, ratios are ours to the one beside it. */
export interface Aim {
  readonly atMost?: number;
  readonly atLeast?: number;
  readonly ratioAtMost?: number;
  readonly ratioAtLeast?: number;
}

export interface Figure {
  readonly what: string;
  readonly slipway: Amount;
  /** The peer or the bare limit, measured in the same run. */
  readonly beside?: { readonly name: string; readonly amount: Amount };
  readonly aim?: Aim;
}

/** Thrown by a bench that cannot run on this machine. */
export class LeftOut extends Error {}

const unit = (name: Unit) => (value: number) => ({ value, unit: name });

export const count = unit('count');
export const gigabytes = unit('GB');
export const kilobytes = unit('KB');
export const megabytes = unit('MB');
export const megabytesPerSecond = unit('MB/s');
export const milliseconds = unit('ms');
export const perSecond = unit('per second');
export const secondsOf = (ms: number): Amount => ({ value: ms / 1_000, unit: 's' });

/** Undefined where nothing stands beside it, or a zero: nothing is a multiple of that. */
export function ratioOf({ slipway, beside }: Figure): number | undefined {
  return beside && beside.amount.value !== 0 ? slipway.value / beside.amount.value : undefined;
}

export function isMet(figure: Figure): boolean | undefined {
  const { aim, slipway } = figure;
  if (!aim) return undefined;
  const ratio = ratioOf(figure) ?? Number.NaN;
  const { atMost, atLeast, ratioAtMost, ratioAtLeast } = aim;
  // A ratio that there is not is a ratio that was not reached.
  return (
    (atMost === undefined || slipway.value <= atMost) &&
    (atLeast === undefined || slipway.value >= atLeast) &&
    (ratioAtMost === undefined || ratio <= ratioAtMost) &&
    (ratioAtLeast === undefined || ratio >= ratioAtLeast)
  );
}

/** A bench that could not tell a number has not measured. */
export function assertMeasured(figures: readonly Figure[]): void {
  for (const { what, slipway, beside } of figures) {
    const amounts = beside ? [slipway, beside.amount] : [slipway];
    if (!amounts.every(({ value }) => Number.isFinite(value))) throw new Error(`«${what}» was not measured`);
    if (beside && beside.amount.unit !== slipway.unit)
      throw new Error(`«${what}» compares ${slipway.unit} with ${beside.amount.unit}`);
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** The value below which that share of them lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
}
