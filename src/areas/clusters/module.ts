/** Clusters as a part of the service. */
import type { Module } from '../../http/module.ts';
import { availabilityOperation } from './availability.ts';
import type { ClustersContext } from './clusters.ts';
import { joinOperation } from './join.ts';
import { leaveOperation } from './leave.ts';
import { clusterCheckSchedule, managersOperation } from './look.ts';
import { rebootOperation } from './rolling-reboot.ts';
import { clusterRoutes } from './routes.ts';

export function clustersModule(ctx: ClustersContext): Module {
  return {
    routes: (routes) => clusterRoutes(routes, ctx),
    operations: [
      joinOperation(ctx),
      leaveOperation(ctx),
      availabilityOperation(ctx),
      rebootOperation(ctx),
      managersOperation(ctx),
    ],
    schedules: [clusterCheckSchedule(ctx)],
  };
}
