/** Git providers as a part of the service. */
import type { Module } from '../../http/module.ts';
import { checkProvidersSchedule } from './check-providers.ts';
import type { GitProvidersContext } from './git-providers.ts';
import { gitProviderRoutes } from './routes.ts';

export function gitProvidersModule(ctx: GitProvidersContext): Module {
  return {
    routes: (routes) => gitProviderRoutes(routes, ctx),
    schedules: [checkProvidersSchedule(ctx)],
  };
}
