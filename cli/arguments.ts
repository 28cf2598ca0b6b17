/** From the words of a command line to a command and what was said to it. */
import { parseArgs } from 'node:util';
import { type Command, commonFlags, type Flag, usageError } from './command.ts';
import { commands } from './commands.ts';
import { usageOf } from './help.ts';
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
  if (command?.name === 'api') {
    const isHelp = rest[0] === '--help' || rest[0] === '-h';
    return { command, group: undefined, args: rest, flags: isHelp ? { help: true } : {} };
  }
  const { values, positionals } = readFlags(rest, flags);
  if (command && values.help !== true) countWords(command, positionals);
  return { command, group: command ? undefined : first, args: positionals, flags: values };
}

/** What is too much would be passed over, and what it was meant for be done to something else. */
function countWords(command: Command, words: readonly string[]): void {
  const wanted = command.takes?.split(' ') ?? [];
  const usage = `Usage: ${usageOf(command)}`;
  const missing = wanted[words.length];
  if (missing?.startsWith('<')) throw usageError(`${missing.replace('...', '')} is missing.`, usage);
  const tooMuch = words[wanted.length];
  if (tooMuch !== undefined && !/\.\.\.$|^\[--/.test(command.takes ?? ''))
    throw usageError(
      `«${tooMuch}» is too much.`,
      wanted.length > 0
        ? usage
        : `${usage}\nAn environment is named with --environment, a project with --project.`,
    );
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
