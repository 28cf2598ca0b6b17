/** A process of the service that obeys the orders of the fault trials. Settings come as they always do. */
import { flushCompileCache } from 'node:module';
import { startApp } from '../../src/app.ts';
import { deployKind } from '../../src/areas/deployments/deployments.ts';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import { obey } from './orders.ts';

const { FAULTS_ORDERS = '', FAULTS_LEASE_MS, FAULTS_KINDS = deployKind, ...env } = process.env;
const config = readConfig(env);
const app = await startApp(config, createLog(config.logLevel), {
  runner: {
    hook: obey(FAULTS_ORDERS, FAULTS_KINDS.split(',')),
    leaseMs: Number(FAULTS_LEASE_MS),
    pollMs: 300,
  },
});
// Whoever started it holds the other end: it must not outlive a campaign that was killed.
process.stdin.on('end', () => process.exit(1)).resume();
process.on('SIGTERM', () => void app.stop().then(() => process.exit(0)));
// One that is killed could not do so in the end.
flushCompileCache();
process.stdout.write(`ready ${app.url}\n`);
