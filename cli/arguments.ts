/** From the words of a command line to a command and what was said to it; and its help. */
import { parseArgs } from 'node:util';
import { type Command, commonFlags, type Flag, usageError } from './command.ts';
import { commands } from './commands.ts';
import type { FlagValues } from './session.ts';

export interface Parsed {
  readonly command: Command | undefined;
  /** What was typed where no command is meant: a group such as `env`. */
  readonly group: string | undefined;
  readonly args: readonly string[];
  readonly flags: FlagValues;
}

export function parse(words: readonly string[]): Parsed {
  const { names, at } = commandWords(words);
  const [first = '', second] = names;
  const command =
    commands.find(({ name }) => name === `${first} ${second}`) ?? commands.find(({ name }) => name === first);
  const rest = words.filter((_, index) => !at.slice(0, command?.name.split(' ').length ?? 1).includes(index));
  const isGroup = commands.some(({ name }) => name.startsWith(`${first} `));
  if (first !== '' && !command && !isGroup)
    throw usageError(`There is no command «${first}».`, nearest(first));
  if (isGroup && !command && second !== undefined)
    throw usageError(`There is no command «${first} ${second}».`, `See \`slipway ${first} --help\`.`);
  const flags = [...(command?.flags ?? []), ...commonFlags];
  // What `api` takes depends on the operation: it reads its own words.
  if (command?.name === 'api') return { command, group: undefined, args: rest, flags: {} };
  const { values, positionals } = readFlags(rest, flags);
  return { command, group: command ? undefined : first, args: positionals, flags: values };
}

export function readFlags(words: readonly string[], flags: readonly Flag[]) {
  const options = Object.fromEntries(
    flags.map(({ name, short, value, isRepeated }) => [
      name,
      {
        type: value === undefined ? ('boolean' as const) : ('string' as const),
        ...(short !== undefined && { short }),
        ...(isRepeated && { multiple: true }),
      },
    ]),
  );
  try {
    return parseArgs({ args: [...words], options, allowPositionals: true });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const [sentence = ''] = error.message.split(/\. (?:To specify|This may)|\n/);
    throw usageError(`${sentence.replace(/\.$/, '')}.`, 'See --help.');
  }
}

/** The first two words that are neither flags nor values of common ones. */
function commandWords(words: readonly string[]): { names: string[]; at: number[] } {
  const takesValue = (word: string) =>
    commonFlags.some(({ name, short, value }) => value && (word === `--${name}` || word === `-${short}`));
  const at = words.flatMap((word, index) =>
    word.startsWith('-') || takesValue(words[index - 1] ?? '') ? [] : [index],
  );
  return { names: at.slice(0, 2).map((index) => words[index] ?? ''), at: at.slice(0, 2) };
}

function nearest(word: string): string {
  const names = [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? ''))];
  const close = names.filter((name) => name.startsWith(word.slice(0, 2)));
  return close.length > 0
    ? `Did you mean ${close.map((name) => `\`${name}\``).join(' or ')}?`
    : 'See --help.';
}

export function help({ command, group }: Pick<Parsed, 'command' | 'group'>): string {
  if (command) return commandHelp(command);
  const shown = group ? commands.filter(({ name }) => name.startsWith(`${group} `)) : commands;
  const usage = group ? `slipway ${group} <command>` : 'slipway <command>';
  const rows = shown.map(({ name, takes = '', about }) => [`${name} ${takes}`.trim(), about] as const);
  return [
    ...(group ? [] : ['Deploy to your own servers from the prompt.', '']),
    `Usage: ${usage} [flags]`,
    '',
    'Commands:',
    ...listed(rows),
    '',
    'Flags of every command:',
    ...listed(commonFlags.map((flag) => [flagUsage(flag), flag.about])),
    '',
    'Every command has its own --help.',
    '',
  ].join('\n');
}

function commandHelp({ name, takes = '', about, details, flags = [] }: Command): string {
  return [
    about,
    ...(details ? ['', details] : []),
    '',
    `Usage: slipway ${`${name} ${takes}`.trim()}${flags.length > 0 ? ' [flags]' : ''}`,
    ...(flags.length > 0
      ? ['', 'Flags:', ...listed(flags.map((flag) => [flagUsage(flag), flag.about]))]
      : []),
    '',
    'Flags of every command:',
    ...listed(commonFlags.map((flag) => [flagUsage(flag), flag.about])),
    '',
  ].join('\n');
}

export function flagUsage({ name, short, value }: Flag): string {
  return `${short ? `-${short}, ` : ''}--${name}${value ? ` ${value}` : ''}`;
}

function listed(rows: readonly (readonly [left: string, right: string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
