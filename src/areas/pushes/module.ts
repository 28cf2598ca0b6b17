/** Pushes as a part of the service. */
import type { Module } from '../../http/module.ts';
import { pollSchedule } from './poll-branches.ts';
import type { PushesContext } from './pushes.ts';
import { pushRoutes } from './routes.ts';

export function pushesModule(ctx: PushesContext, pollSeconds: number): Module {
  return { routes: (routes) => pushRoutes(routes, ctx), schedules: [pollSchedule(ctx, pollSeconds)] };
}
