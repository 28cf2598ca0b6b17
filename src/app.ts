/** Composition: the list of modules, and the order in which everything starts and stops. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Mailer } from './adapters/mail/mail.ts';
import type { ProcessLimits } from './analysis/limits.ts';
import { accountsModule } from './areas/accounts/module.ts';
import { auditModule } from './areas/audit/module.ts';
import { backupsModule } from './areas/backups/module.ts';
import { clustersModule } from './areas/clusters/module.ts';
import { deploymentsModule } from './areas/deployments/module.ts';
import { domainsModule } from './areas/domains/module.ts';
import { environmentsModule, liveModule } from './areas/environments/module.ts';
import { gitProvidersModule } from './areas/git-providers/module.ts';
import { installationModule } from './areas/installation/module.ts';
import type { Deliveries } from './areas/notifications/deliveries.ts';
import { notificationsModule } from './areas/notifications/module.ts';
import { operationsModule } from './areas/operations/module.ts';
import { projectsModule } from './areas/projects/module.ts';
import { pushesModule } from './areas/pushes/module.ts';
import type { DeployPush } from './areas/pushes/pushes.ts';
import { reconcileModule } from './areas/reconcile/module.ts';
import { serversModule } from './areas/servers/module.ts';
import { servicesModule } from './areas/services/module.ts';
import { workspacesModule } from './areas/workspaces/module.ts';
import { type Clock, systemClock } from './clock.ts';
import type { Config } from './config.ts';
import { type Contexts, createContexts } from './contexts.ts';
import { drainable } from './http/drain.ts';
import { createHttp } from './http/http.ts';
import { listen } from './http/listen.ts';
import type { Module } from './http/module.ts';
import type { HttpServer } from './http/server.ts';
import type { Streams } from './http/streams.ts';
import type { OperationKind } from './operations/definition.ts';
import { expireLeases } from './operations/operations.ts';
import type { OperationQueue } from './operations/queue.ts';
import { defaultLeaseTimes, Runner, type RunnerOptions } from './operations/runner.ts';
import { createResources } from './resources.ts';
import { openStore, type Store } from './store/store.ts';

/** So soon they ask again; loading the queue and the metrics would keep them waiting for five times as long. */
const firstAnswerMs = 20;

/** The dashboard is made with the first page that is asked for; where the service is packaged, before. */
export { bundleDashboard } from './http/dashboard/bundle.ts';

export interface App {
  /** Where it really listens, with the port that was taken. */
  readonly url: string;
  readonly publicUrl: string;
  readonly mailer: Mailer;
  readonly store: Store;
  readonly server: HttpServer;
  readonly streams: Streams;
  readonly queue: OperationQueue;
  readonly deliveries: Deliveries;
  readonly contexts: Contexts;
  stop(): Promise<void>;
}

export interface AppOptions {
  readonly clock?: Clock;
  /** For tests: operations beside those of the areas, how they are run, how often streams beat, and the like. */
  readonly kinds?: readonly OperationKind[];
  readonly runner?: Partial<RunnerOptions>;
  readonly heartbeatMs?: number;
  /** Before it has any route: what makes the document is told of each. */
  readonly onServer?: (server: HttpServer) => unknown;
  readonly deployPush?: DeployPush;
  readonly analysisLimits?: Partial<ProcessLimits>;
  readonly print?: (text: string) => void;
}

/**
 * `opening` lets the caller open the store while this file and all it needs are still being loaded. Everything that asks
 * nothing of the database is made while it still starts.
 */
export async function startApp(
  config: Config,
  log: Logger,
  options: AppOptions = {},
  opening: Promise<Store> = openStore(config, log),
): Promise<App> {
  const { clock = systemClock, print = () => undefined } = options;
  /** Run from the last to the first: each is noted right after what it ends has begun. */
  const undo: (() => unknown)[] = [];
  const onStop = (step: () => unknown) => void undo.push(step);
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= stopAll(undo.splice(0).reverse());
    return stopping;
  };

  try {
    const store = await opening;
    onStop(() => store.close());
    const { db, listener } = store;
    const resources = createResources({
      config,
      log,
      clock,
      store,
      print,
      onStop,
      analysisLimits: options.analysisLimits,
    });
    const { queue, kinds, mailer } = resources;
    let url = '';
    const publicUrl = () => config.publicUrl ?? url;
    const contexts = createContexts(resources, publicUrl, options.deployPush);
    const { sessions } = contexts;

    const notifications = notificationsModule(contexts.notifications, config.eventDays);
    const modules: readonly Module[] = [
      accountsModule(contexts.accounts, contexts.oidc, contexts.mails, () =>
        publicUrl().startsWith('https:'),
      ),
      operationsModule(db, kinds, config),
      serversModule(contexts.servers),
      clustersModule(contexts.clusters),
      gitProvidersModule(contexts.providers),
      projectsModule(contexts.projects, contexts.removals, contexts.environments),
      pushesModule(contexts.pushes, config.pollSeconds),
      environmentsModule(contexts.environments),
      deploymentsModule(contexts.deployments, config.keepDeployments),
      reconcileModule(contexts.reconcile),
      liveModule(contexts.live),
      servicesModule(contexts.services),
      domainsModule(contexts.domains),
      backupsModule(contexts.backups),
      notifications,
      workspacesModule(contexts.workspaces),
      auditModule(db),
      installationModule(contexts.installation),
    ];

    const isStopping = () => stopping !== undefined;
    const { heartbeatMs, onServer } = options;
    const http = await createHttp({
      config,
      log,
      clock,
      store,
      sessions,
      projects: contexts.lookup,
      isStopping,
      heartbeatMs,
      onServer,
    });
    const { server, streams, hub, throttle, metrics } = http;
    const runner = new Runner(db, kinds, queue, log, {
      ...defaultLeaseTimes,
      maxRunning: 50,
      perWorkspace: config.operationsPerWorkspace,
      perServer: config.operationsPerServer,
      ended: (kind, state, seconds) => metrics.countEnd(kind, state, seconds),
      ...options.runner,
    });

    for (const module of modules) {
      module.routes?.(http.routes);
      for (const kind of module.operations ?? []) kinds.add(kind);
      for (const schedule of module.schedules ?? []) queue.add(schedule);
    }
    for (const kind of options.kinds ?? []) kinds.add(kind);

    await store.ready;
    throttle.start();
    onStop(() => throttle.stop());
    for (const module of modules) onStop(() => module.stop?.());
    const closeMonitor = await http.openMonitor();
    if (closeMonitor) onStop(closeMonitor);
    await listener.on('slipway_events', hub);
    await listener.on('slipway_sessions', streams);
    await listener.on('slipway_operations', runner);
    for (const { hears = {} } of modules)
      for (const [channel, hearer] of Object.entries(hears)) await listener.on(channel, hearer);
    await listener.start();
    hub.start();
    onStop(() => hub.stop());
    onStop(() => queue.stop());
    streams.start();
    const drain = drainable(server.server, () => server.close());
    url = await listen(server, config.host, config.port, 'SLIPWAY_PORT');
    onStop(drain);
    onStop(() => streams.stop());
    for (const module of modules) onStop(() => module.endStreams?.());
    // First of all: whoever takes over should not wait for our last requests.
    onStop(() => runner.stop());

    // What only the first users need, once everyone can be served, and those are who waited for the port.
    await sleep(firstAnswerMs);
    for (const module of modules) await module.start?.();
    if (store.isSole) await expireLeases(db);
    runner.start();
    void queue.start(() => runner.poll());
    if (config.monitorListen.at !== 'off') void metrics.load();
    const { deliveries } = notifications;
    return {
      url,
      publicUrl: publicUrl(),
      mailer,
      store,
      server,
      streams,
      queue,
      deliveries,
      contexts,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Every step gets its turn, whatever became of those before; what went wrong first is told at the end. */
async function stopAll(steps: readonly (() => unknown)[]): Promise<void> {
  const problems: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      problems.push(error);
    }
  }
  if (problems.length > 0) throw problems[0];
}
