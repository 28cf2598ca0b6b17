/** Upkeep as a part of the service. */
import type { Module } from '../../http/module.ts';
import { lookAfterSchedule } from './look-after.ts';
import { routeOperation } from './route-environment.ts';
import { upkeepRoutes } from './routes.ts';
import { type StartContext, startOperation } from './start-environment.ts';
import { stopOperation } from './stop-environment.ts';

export function upkeepModule(ctx: StartContext): Module {
  return {
    routes: (routes) => upkeepRoutes(routes, ctx),
    operations: [routeOperation(ctx), stopOperation(ctx), startOperation(ctx)],
    schedules: [lookAfterSchedule(ctx)],
  };
}
