/** Services as a part of the service. */
import type { Module } from '../../http/module.ts';
import { serviceRoutes } from './routes.ts';
import { ServiceTunnels } from './service-tunnels.ts';
import type { ServiceRequestsContext } from './services.ts';
import { servicesOperation } from './services-operation.ts';

export function servicesModule(ctx: ServiceRequestsContext): Module {
  const tunnels = new ServiceTunnels(ctx);
  return {
    routes: (routes) => serviceRoutes(routes, ctx, tunnels),
    operations: [servicesOperation(ctx)],
    endStreams: () => tunnels.end(),
  };
}
