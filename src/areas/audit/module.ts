/** The audit log as a part of the service. */
import type { Module } from '../../http/module.ts';
import type { Database } from '../../store/database.ts';
import { auditRoutes } from './routes.ts';

export function auditModule(db: Database): Module {
  return { routes: (routes) => auditRoutes(routes, db) };
}
