/** What runs. */
import { all, type Environment, type Project } from '../../sdk/index.ts';
import { openBrowser } from '../browser.ts';
import { CliError, type Run } from '../command.ts';
import { collect, type Session } from '../session.ts';
import { plain } from '../terminal.ts';

export const status: Run = async (call) => {
  const isWhole = call.has('all') || !(call.link() || call.text('project') || call.text('environment'));
  if (isWhole) await showAll(call);
  else await showOne(call);
  return undefined;
};

async function showAll({ client, terminal }: Session): Promise<void> {
  const projects = await collect(all(client.listProjects));
  const rows = projects.flatMap((project) =>
    project.environments.length > 0
      ? project.environments.map((each) => rowOf(project, each))
      : [[project.name, '', terminal.status(project.status), '', '']],
  );
  function rowOf(project: Project, { name, status, branch, url }: Environment): string[] {
    return [project.name, name, terminal.status(status), branch, url ?? ''];
  }
  terminal.show(projects, () =>
    terminal.table(
      rows,
      ['PROJECT', 'ENVIRONMENT', 'STATUS', 'BRANCH', 'ADDRESS'],
      'There is no project yet. Run `slipway init` in the folder of one.',
    ),
  );
}

async function showOne(call: Session): Promise<void> {
  const { client, terminal } = call;
  const environment = await call.environment();
  const { id, currentDeploymentId, problem } = environment;
  const [project, deployments] = await Promise.all([
    client.getProject({ id: environment.projectId }),
    client.listDeployments({ id, limit: 5 }),
  ]);
  const [newest] = deployments.items;
  const live = deployments.items.find((each) => each.id === currentDeploymentId);
  terminal.show({ project, environment, live: live ?? null, newest: newest ?? null }, () => [
    `${terminal.bold(project.name)} ${environment.name}  ${terminal.status(environment.status)}`,
    ...(environment.url ? [`  ${environment.url}`] : []),
    ...(problem
      ? [`  ${terminal.red(plain(problem.message))}`, ...(problem.hint ? [`  ${plain(problem.hint)}`] : [])]
      : []),
    ...(live ? [`  live    #${live.number}  ${commitLine(live.commit)}`] : ['  nothing is live yet']),
    ...(newest && newest.id !== live?.id
      ? [`  newest  #${newest.number}  ${terminal.status(newest.status)}  ${commitLine(newest.commit)}`]
      : []),
    ...environment.services.map((each) => `  ${each.kind} ${each.version}  ${terminal.status(each.status)}`),
  ]);
}

export function commitLine({
  sha,
  message,
}: {
  readonly sha: string | null;
  readonly message: string | null;
}): string {
  const [subject = ''] = plain(message ?? '').split('\n');
  return [sha?.slice(0, 7), subject.slice(0, 60)].filter(Boolean).join(' ');
}

export const open: Run = async (call) => {
  const { url, name } = await call.environment();
  if (url === null)
    throw new CliError(
      `${name} has no address yet.`,
      'Deploy it, or connect a name with `slipway domains add`.',
    );
  call.terminal.show({ url }, () => [url]);
  if (call.terminal.isWatched && !(await openBrowser(url)))
    call.terminal.note('There is no browser here that could be opened.');
  return undefined;
};
