/** Domains as a part of the service. */
import type { Module } from '../../http/module.ts';
import { checkDomainsSchedule, renewCertificatesSchedule } from './domain-schedules.ts';
import type { DomainsContext } from './domains.ts';
import { certificateOperation } from './issue-certificate.ts';
import { retireCertificateOperation } from './remove-domain.ts';
import { domainRoutes } from './routes.ts';

export function domainsModule(ctx: DomainsContext): Module {
  return {
    routes: (routes) => domainRoutes(routes, ctx),
    operations: [certificateOperation(ctx), retireCertificateOperation(ctx)],
    schedules: [checkDomainsSchedule(ctx), renewCertificatesSchedule(ctx)],
  };
}
