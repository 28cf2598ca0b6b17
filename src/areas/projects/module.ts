/** Projects as a part of the service. They are shown with their environments, and finalised into the first of them. */
import type { Module } from '../../http/module.ts';
import type { EnvironmentsContext } from '../environments/context.ts';
import { analysisOperation } from './analyse-project.ts';
import type { ProjectsContext } from './projects.ts';
import { pruneMirrorsSchedule } from './read-repository.ts';
import { type ProjectRemovalContext, removeProjectOperation } from './remove-project.ts';
import { projectRoutes } from './routes.ts';

export function projectsModule(
  ctx: ProjectsContext,
  removals: ProjectRemovalContext,
  environments: EnvironmentsContext,
): Module {
  return {
    routes: (routes) => projectRoutes(routes, ctx, removals, environments),
    operations: [analysisOperation(ctx), removeProjectOperation(removals)],
    schedules: [pruneMirrorsSchedule(ctx)],
  };
}
