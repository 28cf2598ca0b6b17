/** The help: of all commands by what they are for, of a group, and of one command. No wider than the terminal. */
import { type Command, commonFlags, type Flag } from './command.ts';
import { commands } from './commands.ts';
import { wrapped } from './wrapped.ts';

export interface Helped {
  readonly command?: Command | undefined;
  /** The first word of several commands: `env`. */
  readonly group?: string | undefined;
  readonly width?: number;
}

type Row = readonly [left: string, right: string];

/** Longer lines are hard to read, however wide the window is. */
const widest = 100;
/** Where less than this is left beside the names, what they are goes below them. */
const leastBeside = 34;

export function help({ command, group, width = 80 }: Helped): string {
  const most = Math.min(width, widest);
  const lines = command ? ofCommand(command, most) : ofGroup(group, most);
  return `${lines.join('\n')}\n`;
}

export function usageOf({ name, takes = '', flags = [] }: Command): string {
  const said = flags.length > 0 ? '[flags]' : '';
  // What follows -- is read by another program.
  const words = takes.startsWith('[--') ? [name, said, takes] : [name, takes, said];
  return ['slipway', ...words.filter(Boolean)].join(' ');
}

export function flagUsage({ name, short, value }: Flag): string {
  return `${short ? `-${short}, ` : ''}--${name}${value ? ` ${value}` : ''}`;
}

function ofGroup(group: string | undefined, width: number): string[] {
  const shown = group ? commands.filter(({ name }) => name.startsWith(`${group} `)) : commands;
  const rows = shown.map(rowOf);
  const column = columnOf([...rows, ...commonFlags.map(flagRow)]);
  return [
    ...(group ? [] : ['Deploy to your own servers from the prompt.', '']),
    `Usage: slipway ${group ? `${group} ` : ''}<command> [flags]`,
    ...(group ? [''] : []),
    ...shown.flatMap(({ heading }, at) => [
      ...(heading && !group ? ['', heading] : []),
      ...listed(rows.slice(at, at + 1), width, column),
    ]),
    '',
    'Flags of every command',
    ...listed(commonFlags.map(flagRow), width, column),
    '',
    ...wrapped('`slipway <command> --help` says more of one, with examples.', width),
  ];
}

function ofCommand(command: Command, width: number): string[] {
  const { name, about, details, flags = [], examples = [] } = command;
  const below = commands.filter((each) => each.name.startsWith(`${name} `));
  const every = commonFlags.map((flag) => `--${flag.name}`).join(', ');
  const part = (title: string, lines: readonly string[]) => (lines.length > 0 ? ['', title, ...lines] : []);
  return [
    ...wrapped(about, width),
    ...(details ?? '').split('\n').flatMap((text) => (text ? ['', ...wrapped(text, width)] : [])),
    '',
    `Usage: ${usageOf(command)}`,
    ...part('Flags', listed(flags.map(flagRow), width)),
    ...part('Commands', listed(below.map(rowOf), width)),
    ...part(
      'Examples',
      examples.map((line) => `  ${line}`),
    ),
    '',
    ...wrapped(`Every command takes ${every}; \`slipway --help\` says what they are.`, width),
  ];
}

function rowOf({ name, takes = '', about }: Command): Row {
  return [`${name} ${takes}`.trim(), about];
}

export function flagRow(flag: Flag): Row {
  return [flagUsage(flag), flag.about];
}

const columnOf = (rows: readonly Row[]) => Math.max(0, ...rows.map(([left]) => left.length));

export function listed(rows: readonly Row[], width: number, column = columnOf(rows)): string[] {
  const isBeside = width - column - 4 >= leastBeside;
  return rows.flatMap(([left, right]) => {
    if (!isBeside) return [`  ${left}`, ...wrapped(right, width - 6).map((line) => `      ${line}`)];
    const [first = '', ...rest] = wrapped(right, width - column - 4);
    const margin = ' '.repeat(column + 4);
    return [`  ${left.padEnd(column)}  ${first}`.trimEnd(), ...rest.map((line) => `${margin}${line}`)];
  });
}
