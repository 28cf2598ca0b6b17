/** Environments as a part of the service, and what runs of them now, which is followed and not stored. */
import type { Module } from '../../http/module.ts';
import type { EnvironmentsContext } from './context.ts';
import { LiveLogs, type LiveLogsContext } from './live/live-logs.ts';
import { liveRoutes } from './live/live-routes.ts';
import { removeEnvironmentOperation } from './remove-environment.ts';
import { environmentRoutes } from './routes.ts';

export function environmentsModule(ctx: EnvironmentsContext): Module {
  return {
    routes: (routes) => environmentRoutes(routes, ctx),
    operations: [removeEnvironmentOperation(ctx)],
  };
}

export function liveModule(ctx: LiveLogsContext): Module {
  const logs = new LiveLogs(ctx);
  return { routes: (routes) => liveRoutes(routes, logs), endStreams: () => logs.stop() };
}
