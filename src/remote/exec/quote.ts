/** The one place where an argument list becomes a command line. Nothing else in the code base composes one. */
import { Fault } from '../../fault.ts';

/** Linux takes at most 128 KiB in one argument, and the server's shell gets the whole line as one. */
const longestLine = 120_000;

/**
 * Every argument stands in single quotes, where shells change nothing. The quote itself, and the backslash, which
 * fish would read even there, stand outside of them, each behind a backslash: sh, dash, bash, zsh and fish agree.
 */
export function quoteArgv(argv: readonly string[]): string {
  if (argv.length === 0 || argv[0] === '')
    throw new Fault('invalid_input', 'A command needs a program to run.');
  const line = argv.map(quoted).join(' ');
  if (Buffer.byteLength(line) > longestLine) {
    throw new Fault('invalid_input', `A command line may have at most ${longestLine} bytes.`, {
      hint: 'Hand larger data over by standard input.',
    });
  }
  return line;
}

function quoted(argument: string): string {
  if (argument.includes('\0'))
    throw new Fault('invalid_input', 'An argument must not contain a NUL character.');
  // UTF-8 has no form for half a surrogate pair: it would arrive as something else, without a word.
  if (!argument.isWellFormed()) throw new Fault('invalid_input', 'An argument is not valid Unicode text.');
  return `'${argument.replaceAll(/['\\]/g, "'\\$&'")}'`;
}
