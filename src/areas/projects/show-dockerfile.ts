/** The Dockerfile that an app of a project is built with: its own, or the one that is written for it, to take over. */
import { Fault } from '../../fault.ts';
import type { ProjectId, WorkspaceId } from '../../ids.ts';
import { mirrorKeyOf, type ProjectsContext, projectNotFound } from './projects.ts';
import * as queries from './queries.ts';
import { writeDockerfile } from './read-repository.ts';

const timeoutMs = 30_000;
/** The analysis looks at no larger ones. */
const maxFileBytes = 1024 * 1024;

export async function showDockerfile(
  ctx: ProjectsContext,
  workspaceId: WorkspaceId,
  id: ProjectId,
  path: string | undefined,
) {
  const project = await queries.findProject(ctx.db, workspaceId, id);
  if (!project) throw projectNotFound();
  const { analysisResult: result, analysisCommit: commit, cloneUrl } = project;
  if (!result || !commit) {
    throw new Fault('project_not_ready', 'The repository has not been analysed with success yet.', {
      hint: 'Wait for the analysis, or start it again with POST /projects/:id/retry-analysis.',
    });
  }
  const app = result.apps.find((each) =>
    path === undefined ? result.apps.length === 1 : each.path === path,
  );
  if (!app) {
    const paths = result.apps.map((each) => each.path).join(', ') || 'there are none';
    throw new Fault('invalid_input', 'It is not clear which app is meant.', {
      errors: [{ path: 'app', message: `must name one of the apps that were found: ${paths}` }],
    });
  }
  const signal = AbortSignal.timeout(timeoutMs);
  const mirror = (await ctx.mirrors()).open(mirrorKeyOf(workspaceId, cloneUrl));
  if (app.dockerfile) {
    const { path: file } = app.dockerfile;
    for await (const { content } of mirror.readFiles(commit.sha, [file], { signal, maxFileBytes }))
      return {
        app: app.path,
        isGenerated: false,
        dockerfile: content.toString('utf8'),
        dockerignore: null,
        explanation: [],
      };
    throw new Fault('commit_not_found', 'The commit that was analysed is no longer here.');
  }
  const buildVariables = result.variables.filter(({ build, apps }) => build && apps.includes(app.path));
  const order = { app, monorepo: result.monorepo, buildVariables };
  const from = { mirror, sha: commit.sha };
  const built = await writeDockerfile(ctx.analyst, workspaceId, from, order, signal);
  const { dockerfile, dockerignore, explanation } = built;
  return { app: app.path, isGenerated: true, dockerfile, dockerignore, explanation };
}
