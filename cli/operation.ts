/** Follows an operation of Slipway from the prompt. */
import type { Operation } from '../sdk/index.ts';
import { attend } from './attend.ts';
import type { ExitCode } from './command.ts';
import type { Session } from './session.ts';

export async function attendOperation(call: Session, operation: Operation, done: string): Promise<ExitCode> {
  return attendOperationId(call, operation.id, done);
}

export async function attendOperationId(call: Session, id: string, done: string): Promise<ExitCode> {
  const { client, terminal } = call;
  if (call.has('detach')) {
    terminal.show(await client.getOperation({ id }), () => [`It has begun as operation ${id}.`]);
    return 'done';
  }
  const work = {
    what: 'The work',
    events: (signal: AbortSignal) => client.followOperation({ id }, { signal }),
    cancel: () => client.cancelOperation({ id }),
    later: `See \`slipway api getOperation --id ${id}\`.`,
  };
  const { exitCode } = await attend(terminal, work, false);
  if (terminal.isJson) terminal.show(await client.getOperation({ id }), () => []);
  else if (exitCode === 'done') terminal.say(done);
  return exitCode;
}
