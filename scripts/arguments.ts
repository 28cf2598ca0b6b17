/** What a person typed after a command. What is not known is answered with one sentence and the usage, not with a trace. */
import { type ParseArgsConfig, parseArgs } from 'node:util';

export function readArguments<const Config extends ParseArgsConfig>(
  config: Config,
  usage: string,
): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config);
  } catch (error) {
    // Node explains at length what only its option for positionals needs.
    const said = error instanceof Error ? (error.message.split(/\. |\n/)[0] ?? '') : String(error);
    process.stderr.write(`${said}.\n${usage.trimEnd()}\n`);
    process.exit(1);
  }
}
