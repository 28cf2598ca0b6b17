/** The installation as a part of the service. */
import type { Module } from '../../http/module.ts';
import { type InstallationContext, warnOfSettings } from './installation.ts';
import { installationRoutes } from './routes.ts';

export function installationModule(ctx: InstallationContext): Module {
  return { routes: (routes) => installationRoutes(routes, ctx), start: () => warnOfSettings(ctx) };
}
