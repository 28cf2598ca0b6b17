/** Workspaces as a part of the service. */
import type { Module } from '../../http/module.ts';
import { pruneWorkspacesSchedule, removeWorkspaceOperation } from './remove-workspace.ts';
import { workspaceRoutes } from './routes.ts';
import type { WorkspacesContext } from './workspaces.ts';

export function workspacesModule(ctx: WorkspacesContext): Module {
  return {
    routes: (routes) => workspaceRoutes(routes, ctx),
    operations: [removeWorkspaceOperation(ctx)],
    schedules: [pruneWorkspacesSchedule(ctx)],
  };
}
