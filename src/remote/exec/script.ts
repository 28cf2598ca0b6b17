/**
 * How a constant script is sent to the server: by standard input, ahead of what the script itself reads there. As an
 * argument it would stand in the server's log each time, whole: sudo logs every command line. The wrapper is
 * short and always the same; the arguments are still logged, so nothing secret may be one.
 */
import { Fault } from '../../fault.ts';

/** A broken connection looks like the end of the input. Half a script does not end with this, and is not run. */
const end = '\n# the end of the script';

/**
 * `dd` because it reads exactly the given number of bytes and leaves the rest of the input alone; other programs, and some
 * versions of `head`, read ahead. `eval` instead of another `sh -c`: Linux takes no argument above 128 KiB.
 */
const wrapper = `text=$(dd bs="$1" count=1 iflag=fullblock status=none)
case $text in
  *'${end.trim()}') shift; eval "unset text; $text" ;;
  *) echo 'the script did not arrive whole' >&2; exit 1 ;;
esac`;

export interface SentScript {
  readonly argv: readonly string[];
  /** Sent first; the script's own input follows, or the end. */
  readonly preamble: Buffer;
}

export function sendScript(text: string, args: readonly string[]): SentScript {
  // The shell drops a NUL without a word; a mark in the middle would let half a script pass for a whole one.
  if (text.includes('\0') || text.includes(end.trim()))
    throw new Fault('invalid_input', 'The text cannot be sent as a script.');
  const preamble = Buffer.from(`${text}${end}`);
  return { argv: ['sh', '-euc', wrapper, 'sh', String(preamble.length), ...args], preamble };
}
