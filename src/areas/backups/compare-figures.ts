/** Whether a restored copy is what was dumped: every figure of the dump's own snapshot against those of the copy. */
import type { Figures } from './engines/engine.ts';

const mostShown = 20;

/** Sentences, one for each difference; none where all is equal. */
export function compareFigures(dumped: Figures, restored: Figures): string[] {
  const names = [...new Set([...Object.keys(dumped), ...Object.keys(restored)])].sort();
  const differences = names.flatMap((name) => {
    const [before, after] = [figureOf(dumped, name), figureOf(restored, name)];
    return before === after ? [] : [`${name}: ${before} when it was dumped, ${after} when it was restored`];
  });
  if (differences.length <= mostShown) return differences;
  return [...differences.slice(0, mostShown), `and ${differences.length - mostShown} more`];
}

/** Equal figures are an equal text: what the store gives back as a number was perhaps written as one with a point. */
function figureOf(figures: Figures, name: string): string {
  return Object.hasOwn(figures, name) ? String(figures[name]) : 'none';
}
