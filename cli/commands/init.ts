/** Links a folder: from its repository to a project with an environment, asking only what cannot be known. */
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  type AnalysisResult,
  all,
  type Environment,
  type NewProject,
  type NewVariable,
  type Operations,
  type Project,
} from '../../sdk/index.ts';
import { faultLines } from '../attend.ts';
import { CliError, type Run, usageError } from '../command.ts';
import { collect, type Link, linkFile, named, type Session } from '../session.ts';
import { plain } from '../terminal.ts';
import { git } from '../working-tree.ts';

export const init: Run = async (call) => {
  const { client, terminal } = call;
  const url = call.text('url') ?? (await git(call.folder, 'remote', 'get-url', 'origin'));
  if (!url)
    throw usageError(
      'This folder has no remote `origin`.',
      'Push it somewhere, or name the repository with --url.',
    );
  const branch = call.text('branch') ?? (await git(call.folder, 'branch', '--show-current'));
  const { project, isNew } = await projectOf(call, url, branch || undefined);
  const whole = await analysed(call, project);
  if (isNew) for (const line of summary(call, whole.analysis.result)) terminal.say(line);
  const environment = await environmentOf(call, whole);
  const { context } = call.target();
  const link: Link = { url: context.url, projectId: project.id, environmentId: environment.id };
  writeFileSync(join(call.folder, linkFile), `${JSON.stringify(link, null, 2)}\n`);
  terminal.show({ project: await client.getProject({ id: project.id }), environment }, () => [
    `Linked to ${terminal.bold(project.name)} ${environment.name}; ${linkFile} remembers it and may be committed.`,
    environment.serverId === null
      ? 'It stands on no server yet: slipway servers, then slipway api linkServer --id … --serverId …'
      : 'Deploy it: slipway deploy',
  ]);
  return undefined;
};

async function projectOf(call: Session, url: string, branch: string | undefined) {
  const asked = call.text('project') ?? call.text('name');
  const projects = await collect(all(call.client.listProjects));
  const found = projects.find((each) =>
    asked === undefined
      ? sameRepository(each.repository.cloneUrl, url)
      : each.name === asked || each.id === asked,
  );
  if (found) {
    call.terminal.say(`There is a project for it: ${found.name}.`);
    return { project: found, isNew: found.environments.length === 0 };
  }
  const preset = basename(url).replace(/\.git$/, '');
  const name =
    asked ?? (call.terminal.canAsk ? await call.terminal.ask('Name of the project', preset) : preset);
  const body: NewProject = {
    name,
    repository: await repositoryOf(call.client, url),
    branch,
    rootDirectory: call.text('root'),
  };
  return { project: await call.client.createProject({ body }), isNew: true };
}

/** Through a Git account that is connected, where it has the repository; else by its address. */
async function repositoryOf(client: Operations, url: string): Promise<NewProject['repository']> {
  const fullName = pathOf(url);
  const providers = await collect(all(client.listGitProviders)).catch((error: unknown) => {
    // Somebody who is limited to projects sees none.
    if (Object(error).status === 403) return [];
    throw error;
  });
  const provider = providers.find((each) => hostOf(each.baseUrl) === hostOf(url));
  return provider ? { providerId: provider.id, fullName } : { url: asUrl(url) };
}

const scpForm = /^(?:[\w.-]+@)?([\w.-]+):(?!\/\/)(.+)$/;

export function hostOf(url: string): string {
  return scpForm.exec(url)?.[1] ?? (URL.canParse(url) ? new URL(url).hostname : '');
}

export function pathOf(url: string): string {
  const path = scpForm.exec(url)?.[2] ?? (URL.canParse(url) ? new URL(url).pathname : url);
  return path.replace(/^\/+/, '').replace(/(\.git)?\/*$/, '');
}

function asUrl(url: string): string {
  const [, host, path] = scpForm.exec(url) ?? [];
  const user = /^([\w.-]+)@/.exec(url)?.[1] ?? 'git';
  return host === undefined ? url : `ssh://${user}@${host}/${path}`;
}

export function sameRepository(one: string, other: string): boolean {
  return hostOf(one) === hostOf(other) && pathOf(one).toLowerCase() === pathOf(other).toLowerCase();
}

async function analysed(call: Session, project: Project): Promise<Project> {
  const { terminal, client } = call;
  if (project.status === 'ready' || project.status === 'active') return client.getProject({ id: project.id });
  for await (const event of client.followAnalysis({ id: project.id })) {
    if (event.kind === 'finding') terminal.say(`  ${terminal.dim(plain(event.text))}`);
    if (event.kind !== 'end' || event.status === 'succeeded') continue;
    for (const line of faultLines(terminal, event.fault)) terminal.say(line);
    throw new CliError(
      'The repository could not be analysed.',
      'Mend it, push, and run this again.',
      'failed',
    );
  }
  return client.getProject({ id: project.id });
}

function summary({ terminal }: Session, result: AnalysisResult | null | undefined): string[] {
  if (!result) return [];
  return [
    ...result.apps.map(({ path, language, framework, startCommand, port }) => {
      const what = [
        framework ?? language,
        startCommand && `starts with \`${plain(startCommand)}\``,
        port && `on ${port}`,
      ];
      return `${terminal.bold(path)}  ${what.filter(Boolean).join(', ')}`;
    }),
    ...result.services.map(
      ({ kind, version, reason }) => `  needs ${kind} ${version ?? ''}: ${plain(reason)}`,
    ),
    ...result.warnings.map(({ message }) => `  ${terminal.yellow('!')} ${plain(message)}`),
  ];
}

async function environmentOf(call: Session, project: Project): Promise<Environment> {
  const name = call.text('environment') ?? 'production';
  const { environments } = project;
  const found = environments.find((each) => each.name === name || each.id === name);
  if (found) return found;
  const serverId = await serverOf(call);
  const result = project.analysis.result;
  const variables = await wantedVariables(call, result);
  const { client } = call;
  if (project.status === 'active')
    return client.createEnvironment({ body: { projectId: project.id, name, serverId, variables } });
  const app = await appOf(call, result);
  const body = { app, environment: { name, serverId, variables } };
  return (await client.finalizeProject({ id: project.id, body })).environment;
}

async function serverOf(call: Session): Promise<string | undefined> {
  const asked = call.text('server');
  const servers = await collect(all(call.client.listServers));
  if (asked !== undefined) return named(servers, asked, 'server', 'Add one with `slipway servers add`.').id;
  const [only, ...others] = servers;
  if (!only || others.length === 0) return only?.id;
  if (!call.terminal.canAsk)
    throw usageError(
      'Which server?',
      `Name it with --server: ${servers.map((each) => each.name).join(', ')}.`,
    );
  return call.terminal.choose(
    'Which server?',
    servers.map((each) => [`${each.name} (${each.host})`, each.id]),
  );
}

async function appOf(call: Session, result: AnalysisResult | null | undefined): Promise<string | undefined> {
  const asked = call.text('app');
  const apps = result?.apps ?? [];
  if (asked !== undefined || apps.length < 2) return asked;
  const paths = apps.map(({ path }) => path);
  if (!call.terminal.canAsk) throw usageError('Which app?', `Name it with --app: ${paths.join(', ')}.`);
  return call.terminal.choose(
    'Which app?',
    apps.map(({ path, name }) => [`${path} (${name})`, path]),
  );
}

/** What was said, and what the app cannot do without and nobody else gives. */
async function wantedVariables(
  call: Session,
  result: AnalysisResult | null | undefined,
): Promise<NewVariable[]> {
  const said = call.texts('set').map((word) => {
    const at = word.indexOf('=');
    if (at < 1) throw usageError(`--set takes KEY=VALUE, not «${word}».`);
    return { key: word.slice(0, at), value: word.slice(at + 1) };
  });
  const open = (result?.variables ?? []).filter(
    (each) =>
      each.required &&
      each.given === null &&
      each.default === null &&
      !said.some(({ key }) => key === each.key),
  );
  if (!call.terminal.canAsk) return said;
  const answered = [];
  for (const { key, reason, secret } of open) {
    call.terminal.note(call.terminal.dim(plain(reason)));
    const value = await (secret ? call.terminal.askSecret(key) : call.terminal.ask(key));
    if (value !== '') answered.push({ key, value, secret });
  }
  return [...said, ...answered];
}
