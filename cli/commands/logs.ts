/** What an app prints, what a deployment printed, and what happens in the workspace. */
import { all, ConnectionError, type LogEvent } from '../../sdk/index.ts';
import { CliError, type Run, usageError } from '../command.ts';
import type { Session } from '../session.ts';
import { plain } from '../terminal.ts';

/** So long without a line: there was no other. */
const quietMs = 500;

export const logs: Run = async (call) => {
  const { id } = await call.environment();
  const deployment = call.text('deployment');
  if (deployment !== undefined) return showDeployment(call, id, deployment);
  const follows = call.has('follow');
  const wanted = { id, tail: call.number('tail') ?? 100, process: call.text('process') };
  const stopping = new AbortController();
  process.once('SIGINT', () => stopping.abort());
  let quiet: NodeJS.Timeout | undefined;
  for (let again = wanted; ; again = { ...wanted, tail: 0 }) {
    try {
      for await (const event of call.client.followLogs(again, { signal: stopping.signal })) {
        if (!follows && event.kind === 'problem')
          throw new CliError(plain(event.message), event.hint, 'failed');
        show(call, event);
        if (follows) continue;
        // The containers come first, then all that was printed before, at once; nothing says that it was all.
        clearTimeout(quiet);
        quiet = setTimeout(() => stopping.abort(), quietMs);
      }
      return undefined;
    } catch (error) {
      if (stopping.signal.aborted) return undefined;
      if (!follows || !(error instanceof ConnectionError)) throw error;
      call.terminal.note('The connection broke off; lines from meanwhile may be missing.');
    } finally {
      clearTimeout(quiet);
    }
  }
};

function show({ terminal }: Session, event: LogEvent): void {
  if (event.kind === 'line')
    terminal.showNext(event, () => {
      const from = terminal.dim(`${event.at.slice(11, 19)} ${event.process}.${event.replica}`);
      return `${from} ${plain(event.line)}`;
    });
  if (event.kind === 'problem' && !terminal.isJson)
    terminal.note(`${terminal.yellow('Waiting:')} ${plain(event.message)}`);
}

async function showDeployment(call: Session, id: string, asked: string): Promise<undefined> {
  const { client, terminal } = call;
  if (!/^#?\d+$/.test(asked)) throw usageError(`--deployment is a number, as in \`slipway deployments\`.`);
  const number = Number(asked.replace('#', ''));
  for await (const each of all((page) => client.listDeployments({ id, ...page }))) {
    if (each.number !== number) continue;
    for await (const line of all((page) => client.getDeploymentLogs({ id, did: each.id, ...page })))
      terminal.showNext(line, () => `${terminal.dim(line.step ?? '')} ${plain(line.line)}`);
    return undefined;
  }
  throw new CliError(`There is no deployment #${number}.`, 'See `slipway deployments`.', 'notFound');
}

export const events: Run = async (call) => {
  const { terminal } = call;
  const stopping = new AbortController();
  process.once('SIGINT', () => stopping.abort());
  if (terminal.isWatched) terminal.note('Waiting for what happens; Ctrl-C ends it.');
  try {
    for await (const event of call.client.followEvents({}, { signal: stopping.signal }))
      terminal.showNext(event, () => {
        const { kind, at, ...rest } = event;
        const told = Object.entries(rest).filter(([, value]) => typeof value === 'string');
        const words = told.map(([name, value]) => `${terminal.dim(`${name}=`)}${plain(String(value))}`);
        return `${terminal.dim(at.slice(11, 19))} ${kind} ${words.join(' ')}`;
      });
  } catch (error) {
    if (!stopping.signal.aborted) throw error;
  }
  return undefined;
};
