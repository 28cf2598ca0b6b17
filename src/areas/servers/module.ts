/** Servers as a part of the service. */
import type { Module } from '../../http/module.ts';
import { securitySchedule } from './check-security.ts';
import { serverCheckSchedule } from './check-servers.ts';
import { hardenOperation, undoHardeningOperation } from './harden.ts';
import { provisionOperation } from './provision.ts';
import { removeServerOperation } from './remove.ts';
import { serverRoutes } from './routes.ts';
import { securityRoutes } from './security-routes.ts';
import type { ServersContext } from './servers.ts';

export function serversModule(ctx: ServersContext): Module {
  return {
    routes: (routes) => {
      serverRoutes(routes, ctx);
      securityRoutes(routes, ctx);
    },
    operations: [
      provisionOperation(ctx),
      removeServerOperation(ctx),
      hardenOperation(ctx),
      undoHardeningOperation(ctx),
    ],
    schedules: [serverCheckSchedule(ctx), securitySchedule(ctx)],
  };
}
