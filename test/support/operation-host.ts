/** A process of the service that can run the operations of the tests. Settings come as they always do. */
import { startApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import type { JournalHook } from '../../src/operations/journal.ts';
import { dieIfOrdered, takeOrders } from './operation-orders.ts';
import { tenSteps } from './ten-steps.ts';

const { HOST_LEASE_MS, HOST_LOOK_MS, ...env } = process.env;
const points = new Map<string, number>();

/** Dies at the journal point that the operation names, in its first life only. */
const hook: JournalHook = (moment, entry, operation) => {
  dieIfOrdered(moment, entry, operation);
  const point = points.get(operation.id) ?? 0;
  points.set(operation.id, point + 1);
  if (operation.epoch === 1 && Object(operation.input).killAt === point) process.kill(process.pid, 'SIGKILL');
};

takeOrders();
const config = readConfig(env);
const app = await startApp(config, createLog(config.logLevel), {
  kinds: [tenSteps],
  runner: {
    hook,
    ...(HOST_LEASE_MS ? { leaseMs: Number(HOST_LEASE_MS) } : {}),
    ...(HOST_LOOK_MS ? { pollMs: Number(HOST_LOOK_MS) } : {}),
  },
});
process.on('SIGTERM', () => void app.stop().then(() => process.exit(0)));
process.stdout.write(`ready ${app.url}\n`);
