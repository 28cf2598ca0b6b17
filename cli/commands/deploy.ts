/** Deploying, going back, and what was deployed. */
import { all, type DeploymentSummary, type Environment } from '../../sdk/index.ts';
import { attend } from '../attend.ts';
import { CliError, type ExitCode, type Run, usageError } from '../command.ts';
import type { Session } from '../session.ts';
import { sendWorkingTree } from './deploy-local.ts';
import { commitLine } from './status.ts';

export const deploy: Run = async (call) => {
  const commit = call.text('commit');
  const branch = call.text('branch');
  const isLocal = call.has('local');
  if ([commit, branch, isLocal || undefined].filter((said) => said !== undefined).length > 1)
    throw usageError('Say one of --commit, --branch and --local.');
  if (call.text('message') !== undefined && !isLocal)
    throw usageError('--message goes with --local: a pushed commit has a message.');
  const environment = await call.environment();
  const begun = isLocal
    ? await sendWorkingTree(call, environment)
    : await call.client.deploy({ id: environment.id, body: { commit, branch } });
  return follow(call, environment, begun);
};

export const rollback: Run = async (call) => {
  const environment = await call.environment();
  const target = await releaseToPutBack(call, environment);
  const variables = call.has('new-variables') ? 'now' : 'then';
  const begun = await call.client.rollBackDeployment({
    id: environment.id,
    did: target.id,
    body: { variables },
  });
  if (call.terminal.isWatched)
    call.terminal.say(`Putting #${target.number} back: ${commitLine(target.commit)}`);
  return follow(call, environment, begun);
};

async function releaseToPutBack(call: Session, environment: Environment): Promise<DeploymentSummary> {
  const { id, currentDeploymentId, name } = environment;
  const [asked] = call.args;
  let hasSeenLive = false;
  for await (const each of all((page) => call.client.listDeployments({ id, ...page }))) {
    if (asked !== undefined && (String(each.number) === asked.replace(/^#/, '') || each.id === asked))
      return each;
    if (asked === undefined && hasSeenLive && each.status === 'succeeded') return each;
    if (each.id === currentDeploymentId) hasSeenLive = true;
  }
  if (asked !== undefined)
    throw new CliError(`${name} has no deployment «${asked}».`, 'See `slipway deployments`.', 'notFound');
  throw new CliError(`${name} has no release before the live one.`, 'See `slipway deployments`.');
}

async function follow(call: Session, environment: Environment, begun: DeploymentSummary): Promise<ExitCode> {
  const { client, terminal } = call;
  const at = { id: environment.id, did: begun.id };
  if (call.has('detach')) {
    terminal.show(begun, () => [`Deployment #${begun.number} has begun.`]);
    return 'done';
  }
  const work = {
    what: `Deployment #${begun.number}`,
    events: (signal: AbortSignal) => client.followDeployment(at, { signal }),
    cancel: () => client.cancelDeployment(at),
    later: `See \`slipway logs --deployment ${begun.number}\`.`,
  };
  const { exitCode } = await attend(terminal, work, call.has('logs'));
  const [deployment, now] = await Promise.all([
    client.getDeployment(at),
    client.getEnvironment({ id: environment.id }),
  ]);
  if (terminal.isJson) terminal.show({ ...deployment, url: now.url }, () => []);
  else if (exitCode === 'done')
    terminal.say(
      `${terminal.green('Live:')} #${begun.number} ${commitLine(deployment.commit)}${now.url ? `\n${now.url}` : ''}`,
    );
  else if (exitCode === 'cancelled') terminal.note(`Deployment #${begun.number} was ${deployment.status}.`);
  return exitCode;
}

export const list: Run = async (call) => {
  const { terminal, client } = call;
  const { id, currentDeploymentId } = await call.environment();
  const { items } = await client.listDeployments({ id, limit: call.number('limit') ?? 20 });
  terminal.show(items, () =>
    terminal.table(
      items.map((each) => [
        `#${each.number}`,
        terminal.status(each.id === currentDeploymentId ? 'live' : each.status),
        each.trigger,
        each.queuedAt.slice(0, 16).replace('T', ' '),
        commitLine(each.commit),
      ]),
      ['NUMBER', 'STATUS', 'BY', 'WHEN (UTC)', 'COMMIT'],
      'Nothing was deployed yet. Run `slipway deploy`.',
    ),
  );
  return undefined;
};
