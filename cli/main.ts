/** `slipway` at the prompt. Loads what a command needs when it runs: the first output comes at once. */
import { ConnectionError, ProblemError } from '../sdk/problem.ts';
import { parse } from './arguments.ts';
import { CliError, type ExitCode, exitCodes, version } from './command.ts';
import { help } from './help.ts';
import { plain, Terminal } from './terminal.ts';

const [first, ...others] = process.argv.slice(2);
/** `help deploy` is `deploy --help`. */
const words = first === 'help' ? [...others, '--help'] : process.argv.slice(2);
const terminal = new Terminal(words.includes('--json'));
// A pipe that was closed, as by `head`, is the end of what is wanted.
process.stdout.on('error', (error) => process.exit(Object(error).code === 'EPIPE' ? 0 : 1));

const [exitCode] = exitCodes[await run().catch(tell)];
// Not process.exit: what was written to a pipe would be cut off.
process.exitCode = exitCode;

async function run(): Promise<ExitCode> {
  if (words[0] === '--version' || words[0] === 'version') {
    process.stdout.write(`slipway ${version}\n`);
    return 'done';
  }
  if (words[0] === '__complete') {
    const { complete } = await import('./commands/completion.ts');
    process.stdout.write(complete(words.slice(1)).join('\n'));
    return 'done';
  }
  const { command, group, args, flags } = parse(words);
  const wantsHelp = flags.help === true || words.length === 0;
  if (!command || wantsHelp) {
    process.stdout.write(help({ command, group: group || undefined, width: terminal.width }));
    return command || wantsHelp ? 'done' : 'usage';
  }
  const { Session } = await import('./session.ts');
  const session = new Session(args, flags, terminal);
  const start = await command.load();
  return (await start(session)) ?? 'done';
}

/** A sentence, what helps, and what finds it in the log of the service. */
function tell(error: unknown): ExitCode {
  if (!(error instanceof ProblemError || error instanceof CliError || error instanceof ConnectionError))
    throw error;
  const problem = error instanceof ProblemError ? error.problem : undefined;
  if (terminal.isJson) {
    const told = problem ?? { detail: error.message, hint: hintOf(error) };
    process.stdout.write(`${JSON.stringify({ error: told }, null, 2)}\n`);
  } else {
    terminal.tell(`${terminal.red('Error:')} ${plain(error.message)}`);
    // Most sentences name the fields already.
    for (const { path, message } of problem?.errors ?? [])
      if (!error.message.includes(message)) terminal.tell(`  ${plain(path)}: ${plain(message)}`);
    const hint = hintOf(error);
    if (hint) terminal.tell(plain(hint));
    if (problem) terminal.note(terminal.dim(`${problem.code}, request ${problem.requestId}`));
  }
  if (error instanceof CliError) return error.exitCode;
  if (error instanceof ConnectionError) return 'unreachable';
  if (problem?.status === 401 || problem?.status === 403) return 'signIn';
  return problem?.status === 404 ? 'notFound' : 'error';
}

function hintOf(error: ProblemError | CliError | ConnectionError): string | undefined {
  if (error instanceof ConnectionError)
    return 'Check the address with `slipway contexts`, and that Slipway runs; `slipway doctor` looks closer.';
  if (error instanceof ProblemError && error.code === 'unauthenticated')
    return 'Sign in with `slipway login`.';
  return error.hint;
}
