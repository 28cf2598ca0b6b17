/** Operations as a part of the service. */
import type { Config } from '../../config.ts';
import type { Module } from '../../http/module.ts';
import type { OperationKinds } from '../../operations/kinds.ts';
import { pruneSchedule } from '../../operations/prune-schedule.ts';
import type { Database } from '../../store/database.ts';
import { operationRoutes } from './routes.ts';

export function operationsModule(db: Database, kinds: OperationKinds, config: Config): Module {
  return {
    routes: (routes) => operationRoutes(routes, db, kinds),
    schedules: [pruneSchedule(db, kinds, config)],
  };
}
