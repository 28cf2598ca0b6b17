/** Services as a part of the service. */
import type { Module } from '../../http/module.ts';
import { serviceRoutes } from './routes.ts';
import type { ServiceRequestsContext } from './services.ts';
import { servicesOperation } from './services-operation.ts';

export function servicesModule(ctx: ServiceRequestsContext): Module {
  return { routes: (routes) => serviceRoutes(routes, ctx), operations: [servicesOperation(ctx)] };
}
