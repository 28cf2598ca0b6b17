/** Deployments as a part of the service. */
import type { Module } from '../../http/module.ts';
import { deployOperation } from './deploy.ts';
import type { DeploymentsContext } from './deployments.ts';
import { pruneDeploymentsSchedule } from './prune-deployments.ts';
import { deploymentRoutes } from './routes.ts';
import { tidyUploadsSchedule } from './uploads/tidy-uploads.ts';

export function deploymentsModule(ctx: DeploymentsContext, keepDeployments: number): Module {
  return {
    routes: (routes) => deploymentRoutes(routes, ctx),
    operations: [deployOperation(ctx)],
    schedules: [pruneDeploymentsSchedule(ctx.db, keepDeployments), tidyUploadsSchedule(ctx)],
  };
}
