/** Upkeep as a part of the service. */
import type { Module } from '../../http/module.ts';
import { Looks } from './looks.ts';
import { routeOperation } from './route-environment.ts';
import { reconcileRoutes } from './routes.ts';
import { type StartContext, startOperation } from './start-environment.ts';
import { stopOperation } from './stop-environment.ts';

export function reconcileModule(ctx: StartContext): Module {
  const looks = new Looks(ctx);
  return {
    routes: (routes) => reconcileRoutes(routes, ctx),
    operations: [routeOperation(ctx), stopOperation(ctx), startOperation(ctx)],
    start: () => looks.start(),
    stop: () => looks.stop(),
  };
}
