/**
 * What the analysis found becomes something that can run: the user's corrections on top of it, and a first environment
 * with its variables and services. Secrets that only have to be random are made here.
 */
import { randomBytes } from 'node:crypto';
import type { AnalysisResult, App } from '../../analysis/result.ts';
import { Fault } from '../../fault.ts';
import type { ProjectId, ServerId, WorkspaceId } from '../../ids.ts';
import type { Answer, Remember } from '../../store/answer.ts';
import type { Queryable } from '../../store/database.ts';
import { createEnvironment } from '../environments/create-environment.ts';
import type { EnvironmentSettings, WantedService } from '../environments/environments.ts';
import type { NewVariable } from '../environments/put-variables.ts';
import { readServer } from '../servers/read-server.ts';
import { slugOf } from './create-project.ts';
import { notFound, type ProjectsContext, tellProject } from './projects.ts';
import * as queries from './queries.ts';
import { readProject } from './read-projects.ts';

export interface FinalizeWish {
  /** The path of one of the analysis' apps; needed where there are several. */
  readonly app?: string;
  readonly settings?: EnvironmentSettings;
  readonly environment: {
    readonly name: string;
    readonly branch?: string;
    readonly serverId?: string;
    readonly variables?: readonly NewVariable[];
    readonly services?: readonly WantedService[];
  };
}

export async function finalizeProject(
  ctx: ProjectsContext,
  workspaceId: WorkspaceId,
  id: ProjectId,
  wish: FinalizeWish,
  remember: Remember,
) {
  const now = ctx.clock.now();
  return ctx.db.transaction(async (tx): Promise<Answer<Finalized>> => {
    if (!(await queries.lockProject(tx, workspaceId, id))) throw notFound();
    const project = await queries.findProject(tx, workspaceId, id);
    if (!project) throw notFound();
    if (project.status === 'active') throw alreadyFinalized();
    const { analysisResult: result, analysisCommit: commit } = project;
    if (project.analysisStatus !== 'succeeded' || !result || !commit) throw notAnalysed();
    const app = chooseApp(result, wish);
    const { name, branch = commit.branch, serverId, variables = [] } = wish.environment;
    if (serverId !== undefined) await checkServer(tx, workspaceId, serverId);
    const environmentId = await createEnvironment(
      tx,
      ctx.sealer,
      workspaceId,
      {
        ...{ projectId: id, name, slug: slugOf(`${project.name} ${name}`), branch },
        serverId: serverId === undefined ? null : (serverId as ServerId),
        settings: { ...(app && { appPath: app.path }), ...wish.settings },
        services: wish.environment.services ?? neededServices(result, app),
        variables: [...generated(result, app), ...variables],
      },
      now,
    );
    if (!environmentId) throw new Error('a project that is not active has an environment');
    await queries.setActive(tx, workspaceId, id, now);
    const shown = await readProject(tx, workspaceId, id);
    const environment = shown.environments.find((each) => each.id === environmentId);
    if (!environment) throw new Error('the environment that was made is not there');
    const body: Finalized = { project: shown, environment, deployment: null };
    const answer = await remember(tx, { status: 200, body });
    await tellProject(tx, workspaceId, id, { reason: 'finalized', environmentId });
    return answer;
  });
}

type Shown = Awaited<ReturnType<typeof readProject>>;

export interface Finalized {
  readonly project: Shown;
  readonly environment: Shown['environments'][number];
  readonly deployment: null;
}

/** The one that is named, or the only one; none where the user says how it starts. */
function chooseApp({ apps }: AnalysisResult, { app, settings }: FinalizeWish): App | undefined {
  const paths = apps.map(({ path }) => path);
  if (app !== undefined) {
    const chosen = apps.find(({ path }) => path === app);
    if (chosen) return chosen;
    throw wrongApp(`is none of the apps that were found: ${paths.join(', ') || 'there are none'}`);
  }
  if (apps.length === 1) return apps[0];
  if (apps.length > 1) throw wrongApp(`must name one of the apps that were found: ${paths.join(', ')}`);
  if (settings?.startCommand || settings?.dockerfilePath || settings?.staticOutput) return undefined;
  throw new Fault('invalid_input', 'Nothing was found that could be run, and nothing says how to run it.', {
    errors: [{ path: 'settings.startCommand', message: 'is needed, or `dockerfilePath`, or `staticOutput`' }],
  });
}

function neededServices({ services }: AnalysisResult, app: App | undefined): WantedService[] {
  return services
    .filter(({ certainty, apps }) => certainty === 'needed' && (!app || apps.includes(app.path)))
    .map(({ kind, version }) => ({ kind, ...(version !== null && { version }) }));
}

/** Of 64 characters, because some frameworks refuse shorter ones; Laravel wants exactly 32 bytes, and says so. */
function generated({ variables }: AnalysisResult, app: App | undefined): NewVariable[] {
  return variables
    .filter(({ given, apps }) => given === 'generate' && (!app || apps.includes(app.path)))
    .map(({ key, build }) => ({
      key,
      value:
        key === 'APP_KEY' && app?.framework === 'laravel'
          ? `base64:${randomBytes(32).toString('base64')}`
          : randomBytes(48).toString('base64url'),
      secret: true,
      target: build ? 'both' : 'runtime',
    }));
}

async function checkServer(tx: Queryable, workspaceId: WorkspaceId, serverId: string): Promise<void> {
  await readServer(tx, workspaceId, serverId as ServerId).catch((error: unknown) => {
    if (!(error instanceof Fault) || error.code !== 'not_found') throw error;
    throw new Fault('not_found', 'There is no such server of yours.', {
      errors: [{ path: 'environment.serverId', message: 'is none of your servers' }],
    });
  });
}

function wrongApp(message: string): Fault {
  return new Fault('invalid_input', 'It is not clear which app is meant.', {
    errors: [{ path: 'app', message }],
  });
}

function notAnalysed(): Fault {
  return new Fault('project_not_ready', 'The repository has not been analysed yet, or not with success.', {
    hint: 'Wait for the analysis, or start it again with POST /projects/:id/retry-analysis.',
  });
}

function alreadyFinalized(): Fault {
  return new Fault('already_finalized', 'The project has been finalised already.');
}
