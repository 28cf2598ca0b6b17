/** What a run of the bench says: the one table, for a terminal and for docs/benchmarks.md. */
import { type Aim, type Amount, type Figure, isMet, ratioOf } from './figure.ts';

export type Outcome =
  | { readonly state: 'measured'; readonly figures: readonly Figure[] }
  | { readonly state: 'left out'; readonly reason: string }
  | { readonly state: 'failed'; readonly reason: string };

export interface Result {
  readonly bench: string;
  readonly about: string;
  readonly outcome: Outcome;
}

export interface Run {
  readonly date: string;
  readonly machine: string;
  readonly node: string;
  readonly command: string;
  readonly minutes: number;
  /** How long the machine took for fixed pieces of work before each bench, as a sentence without its full stop. */
  readonly pace: string;
  readonly results: readonly Result[];
}

const head = ['Bench', 'What', 'Slipway', 'Beside it', 'Ratio', 'Aim', 'Aim met'] as const;

export function document(run: Run): string {
  const rows = [head, head.map(() => '---'), ...rowsOf(run.results)];
  const table = rows.map((cells) => `| ${cells.map(escaped).join(' | ')} |`).join('\n');
  const about = run.results.map(({ bench, about }) => `- **${bench}**: ${about}`).join('\n');
  return `<!-- Written by \`${run.command}\`. What is changed here by hand is gone with the next run. -->
# Benchmarks

One run of \`${run.command}\`, ${run.date}, ${run.minutes} minutes: ${run.machine}, Node ${run.node}. ${run.pace}, median and range before each bench: compare these before you compare seconds with those of another run. ${summary(run.results)}

What stands beside a figure is a peer or the bare limit, measured in the same run on the same machine. Client, service, database and servers share it, and nothing else should run meanwhile. The ratio is Slipway's figure divided by the one beside it. One part alone: \`npm run bench -- http\`.

${table}

## What each measures

${about}

What faults and kills did to it, and the long campaigns, are in [reliability.md](reliability.md).
`;
}

export function plainTable(results: readonly Result[]): string {
  const rows = [[...head], ...rowsOf(results)];
  const widths = head.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
  return rows
    .map((cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function summary(results: readonly Result[]): string {
  const judged = results.flatMap(({ outcome }) =>
    outcome.state === 'measured' ? outcome.figures.map(isMet).filter((met) => met !== undefined) : [],
  );
  const missed = judged.filter((met) => !met).length;
  const told = (state: Outcome['state']) =>
    results.filter(({ outcome }) => outcome.state === state).map(({ bench }) => bench);
  const parts = [`Of ${judged.length} aims, ${judged.length - missed} are met and ${missed} missed.`];
  for (const state of ['failed', 'left out'] as const)
    if (told(state).length > 0)
      parts.push(`${state === 'failed' ? 'Failed' : 'Left out'}: ${told(state).join(', ')}.`);
  return parts.join(' ');
}

function rowsOf(results: readonly Result[]): string[][] {
  return results.flatMap(({ bench, outcome }) =>
    outcome.state === 'measured'
      ? outcome.figures.map((figure) => rowOf(bench, figure))
      : [[bench, `${outcome.state}: ${outcome.reason}`, '', '', '', '', outcome.state]],
  );
}

function rowOf(bench: string, figure: Figure): string[] {
  const { what, slipway, beside, aim } = figure;
  const ratio = ratioOf(figure);
  const met = isMet(figure);
  return [
    bench,
    what,
    shown(slipway),
    beside ? `${beside.name}: ${shown(beside.amount)}` : '',
    ratio === undefined ? '' : ratio.toFixed(2),
    aim ? aimed(aim, slipway) : '',
    met === undefined ? '' : met ? 'yes' : 'missed',
  ];
}

function aimed({ atMost, atLeast, ratioAtMost, ratioAtLeast }: Aim, { unit }: Amount): string {
  const parts = [
    atMost === undefined ? '' : `at most ${shown({ value: atMost, unit })}`,
    atLeast === undefined ? '' : `at least ${shown({ value: atLeast, unit })}`,
    ratioAtMost === undefined ? '' : `ratio at most ${ratioAtMost.toFixed(2)}`,
    ratioAtLeast === undefined ? '' : `ratio at least ${ratioAtLeast.toFixed(2)}`,
  ];
  return parts.filter(Boolean).join(', ');
}

export function shown({ value, unit }: Amount): string {
  const digits = Number.isInteger(value) || value >= 1_000 ? 0 : value >= 10 ? 1 : 2;
  const number = value.toLocaleString('en-GB', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  if (unit === 'count') return number;
  return unit === 'per second' ? `${number}/s` : `${number} ${unit}`;
}

function escaped(cell: string): string {
  return cell.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|');
}
