/** Composition: the only file that knows everyone. Starts the floors from the ground up, stops them top down. */
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { kindOfAddress } from './adapters/egress/address-kinds.ts';
import { createEgress } from './adapters/egress/egress.ts';
import { type Mailer, outboxMailer, smtpMailer } from './adapters/mail/mail.ts';
import { createLocalStorage } from './adapters/storage/local-folder.ts';
import type { AccountsContext } from './areas/accounts/accounts.ts';
import { Authenticator } from './areas/accounts/authenticate.ts';
import { OwedMails } from './areas/accounts/owed-mails.ts';
import { preparePasswords } from './areas/accounts/passwords.ts';
import { resetPage } from './areas/accounts/reset-page.ts';
import { accountRoutes } from './areas/accounts/routes.ts';
import { tidySchedule } from './areas/accounts/tidy-accounts.ts';
import type { AssemblyContext } from './areas/assembly/assembly.ts';
import { environmentRoutes } from './areas/assembly/environment-routes.ts';
import { projectRoutes } from './areas/assembly/project-routes.ts';
import { removeOperation as removeEnvironmentOperation } from './areas/assembly/remove-environment.ts';
import { removeProjectOperation } from './areas/assembly/remove-project.ts';
import { backupSchedule } from './areas/backups/backup-schedules.ts';
import type { BackupsContext } from './areas/backups/backups.ts';
import { discardOperation } from './areas/backups/discard-replaced.ts';
import { importOperation } from './areas/backups/import-upload.ts';
import { backupOperation } from './areas/backups/make-backup.ts';
import { restoreOperation } from './areas/backups/restore-backup.ts';
import { backupRoutes } from './areas/backups/routes.ts';
import { deployOperation } from './areas/deployments/deploy.ts';
import type { DeploymentsContext } from './areas/deployments/deployments.ts';
import { pruneDeploymentsSchedule } from './areas/deployments/prune-deployments.ts';
import { deploymentRoutes } from './areas/deployments/routes.ts';
import { caaNamesOf } from './areas/domains/authority.ts';
import { checkDomainsSchedule, renewCertificatesSchedule } from './areas/domains/domain-schedules.ts';
import type { DomainsContext } from './areas/domains/domains.ts';
import { certificateOperation } from './areas/domains/issue-certificate.ts';
import { retireCertificateOperation } from './areas/domains/remove-domain.ts';
import { domainRoutes } from './areas/domains/routes.ts';
import { environmentsOn } from './areas/environments/environments-on.ts';
import { liveRoutes } from './areas/environments/live-routes.ts';
import { checkProvidersSchedule } from './areas/git-providers/check-providers.ts';
import type { GitProvidersContext } from './areas/git-providers/git-providers.ts';
import { RepositoryCache } from './areas/git-providers/repository-cache.ts';
import { gitProviderRoutes } from './areas/git-providers/routes.ts';
import { Deliveries } from './areas/notifications/deliveries.ts';
import type { NotificationsContext } from './areas/notifications/notifications.ts';
import { notificationRoutes } from './areas/notifications/routes.ts';
import { tidyNoticesSchedule } from './areas/notifications/tidy-notices.ts';
import { operationRoutes } from './areas/operations/routes.ts';
import { analysisOperation } from './areas/projects/analyse-project.ts';
import { projectsUsing } from './areas/projects/projects-using.ts';
import { tidyMirrorsSchedule } from './areas/projects/tidy-mirrors.ts';
import { deployPushed } from './areas/pushes/deploy-pushed.ts';
import { pollSchedule } from './areas/pushes/poll-branches.ts';
import type { TakePush } from './areas/pushes/pushes.ts';
import { pushRoutes } from './areas/pushes/routes.ts';
import { securitySchedule } from './areas/servers/check-security.ts';
import { serverCheckSchedule } from './areas/servers/check-servers.ts';
import { hardenOperation, undoHardeningOperation } from './areas/servers/harden.ts';
import { provisionOperation } from './areas/servers/provision.ts';
import { removeServerOperation } from './areas/servers/remove.ts';
import { serverRoutes } from './areas/servers/routes.ts';
import { securityRoutes } from './areas/servers/security-routes.ts';
import type { ServersContext } from './areas/servers/servers.ts';
import { serviceRoutes } from './areas/services/routes.ts';
import type { ServiceRequestsContext } from './areas/services/services.ts';
import { servicesOperation } from './areas/services/services-operation.ts';
import { knownSecrets } from './areas/upkeep/known-secrets.ts';
import { lookAfterSchedule } from './areas/upkeep/look-after.ts';
import { routeOperation } from './areas/upkeep/route-environment.ts';
import { upkeepRoutes } from './areas/upkeep/routes.ts';
import { startOperation } from './areas/upkeep/start-environment.ts';
import { stopOperation } from './areas/upkeep/stop-environment.ts';
import { type Clock, systemClock } from './clock.ts';
import type { Config } from './config.ts';
import { FeedHub } from './events/feed-hub.ts';
import { noticesChannel } from './events/notices.ts';
import { errorCode, Fault } from './fault.ts';
import { AccessControl } from './http/access.ts';
import { docsRoutes } from './http/docs.ts';
import { drainable } from './http/drain.ts';
import { Idempotency } from './http/idempotency.ts';
import { Limits } from './http/limits.ts';
import { Metrics } from './http/metrics.ts';
import { healthRoute, monitorRoutes } from './http/monitor.ts';
import { createServer, type HttpServer } from './http/server.ts';
import { formatEvent, Streams } from './http/streams.ts';
import { Throttle } from './http/throttle.ts';
import { once } from './once.ts';
import { readBacklog } from './operations/backlog.ts';
import type { OperationKind } from './operations/definition.ts';
import { OperationKinds } from './operations/kinds.ts';
import { pruneSchedule } from './operations/prune-schedule.ts';
import { OperationQueue } from './operations/queue.ts';
import { defaultLeaseTimes, Runner, type RunnerOptions } from './operations/runner.ts';
import { createRemotePool } from './remote/pool.ts';
import { openStore, type Store } from './store/store.ts';

export interface App {
  /** Where it really listens, with the port that was taken. */
  readonly url: string;
  readonly publicUrl: string;
  readonly mailer: Mailer;
  readonly store: Store;
  readonly server: HttpServer;
  readonly streams: Streams;
  readonly queue: OperationQueue;
  readonly servers: ServersContext;
  readonly gitProviders: GitProvidersContext;
  readonly projects: AssemblyContext;
  readonly deployments: DeploymentsContext;
  readonly domains: DomainsContext;
  readonly backups: BackupsContext;
  readonly deliveries: Deliveries;
  stop(): Promise<void>;
}

export interface AppOptions {
  readonly clock?: Clock;
  /** For tests: operations beside those of the areas, how they are run, and how often streams beat. */
  readonly kinds?: readonly OperationKind[];
  readonly runner?: Partial<RunnerOptions>;
  readonly heartbeatMs?: number;
  readonly takePush?: TakePush;
  readonly print?: (text: string) => void;
}

/** `opening` lets the caller open the store while this file and all it needs are still being loaded. */
export async function startApp(
  config: Config,
  log: Logger,
  options: AppOptions = {},
  opening: Promise<Store> = openStore(config, log),
): Promise<App> {
  const { clock = systemClock, print = () => undefined } = options;
  const undo: (() => unknown)[] = [];
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= stopAll(undo.splice(0).reverse());
    return stopping;
  };

  try {
    const store = await opening;
    undo.push(() => store.close());
    const { db, masterKeys } = store;

    const mailer = config.smtpUrl
      ? smtpMailer(config.smtpUrl, config.mailFrom)
      : outboxMailer(store.folder.outboxDir, config.mailFrom, print);
    let url = '';
    const publicUrl = () => config.publicUrl ?? url;
    const owedMails = new OwedMails({ db, clock, masterKeys, mailer, publicUrl, log });
    const accounts: AccountsContext = { db, clock, masterKeys, config, wakeMail: () => owedMails.wake() };

    const throttle = new Throttle(db, clock, log);
    const limits = new Limits(throttle, masterKeys, config);
    const authenticator = new Authenticator(db, clock, masterKeys);
    const accessControl = new AccessControl(authenticator, limits);

    const { listener } = store;
    const hub = new FeedHub(db, log, formatEvent);
    const streams = new Streams(db, hub, authenticator, log, options.heartbeatMs);
    const queue = new OperationQueue(db, listener, log);
    const { operationsPerWorkspace: perWorkspace, operationsPerServer: perServer } = config;
    const kinds = new OperationKinds();
    const metrics = new Metrics(() => readBacklog(db));
    const runner = new Runner(db, kinds, queue, log, {
      ...defaultLeaseTimes,
      maxRunning: 50,
      perWorkspace,
      perServer,
      ended: (kind, state, seconds) => metrics.countEnd(kind, state, seconds),
      ...options.runner,
    });
    const pool = createRemotePool(log);
    undo.push(() => pool.close());
    const servers: ServersContext = { db, clock, sealer: store.sealer, queue, pool, log, environmentsOn };
    for (const make of [provisionOperation, removeServerOperation, hardenOperation, undoHardeningOperation])
      kinds.add(make(servers));
    const egress = createEgress({
      allowPrivate: config.allowPrivateEgress,
      dnsServers: config.dnsServers,
      ...(config.caFile !== undefined && { caFile: config.caFile }),
    });
    undo.push(() => egress.close());
    const { sealer } = store;
    const cache = new RepositoryCache(clock);
    const gitProviders: GitProvidersContext = { db, clock, sealer, egress, cache, projectsUsing };
    const mirrors = once(async () => {
      const { createMirrors } = await import('./adapters/git/mirrors.ts');
      return createMirrors({
        folder: store.folder.gitDir,
        resolve: egress.resolve,
        fetch: egress.fetch,
        log,
        allowHttp: config.allowPrivateEgress,
        limits: { maxBytes: config.mirrorMegabytes * 1024 * 1024 },
        ...(config.caFile !== undefined && { caFile: config.caFile }),
      });
    });
    const deployments: DeploymentsContext = {
      db,
      clock,
      sealer,
      queue,
      mirrors,
      providers: gitProviders,
      allowHttp: config.allowPrivateEgress,
      servers,
      kinds,
      masterKeys,
      log,
    };
    const projects: AssemblyContext = {
      ...deployments,
      publicUrl,
      takePush: options.takePush ?? deployPushed(deployments),
    };
    // The authority is the operator's choice, not a user's: it may be in the operator's own network.
    const acmeCaFile = config.acmeCaFile ?? config.caFile;
    const toAuthority = createEgress({
      allowPrivate: true,
      dnsServers: config.dnsServers,
      ...(acmeCaFile !== undefined && { caFile: acmeCaFile }),
    });
    undo.push(() => toAuthority.close());
    const domains: DomainsContext = {
      db,
      clock,
      sealer,
      queue,
      servers,
      dns: once(async () => {
        const { createDns } = await import('./adapters/dns/dns.ts');
        const { dnsServers, allowPrivateEgress: allowPrivate } = config;
        return createDns({ servers: dnsServers ?? [], allowPrivate, kindOfAddress, clock });
      }),
      authority: {
        directoryUrl: config.acmeDirectory,
        caaNames: caaNamesOf(config.acmeDirectory),
        acme: once(async () => {
          const { createAcme } = await import('./adapters/acme/acme.ts');
          const { acmeDirectory: directoryUrl } = config;
          return createAcme({ directoryUrl, userAgent: 'slipway', fetch: toAuthority.fetch, clock });
        }),
      },
    };
    const services: ServiceRequestsContext = { db, clock, sealer, queue, servers };
    const backups: BackupsContext = {
      ...deployments,
      fetch: egress.fetch,
      keepReplacedDays: config.backupKeepReplacedDays,
      localStorage: createLocalStorage(config.backupDir ?? join(store.folder.path, 'backups')),
      importBytes: config.importMegabytes * 1024 * 1024,
    };
    const notifications: NotificationsContext = {
      db,
      clock,
      sealer,
      log,
      publicUrl,
      allowPrivate: config.allowPrivateEgress,
      ways: {
        fetch: egress.fetch,
        mail: ({ to, id, ...mail }) =>
          mailer.send({ ...mail, to: to.join(', '), messageId: `<${id}@notifications.slipway>` }),
        now: () => clock.now(),
      },
      secretsOf: (workspaceId, environmentId) => knownSecrets(deployments, workspaceId, environmentId),
      wakeMail: () => owedMails.wake(),
    };
    const deliveries = new Deliveries(notifications);
    kinds.add(analysisOperation(projects));
    kinds.add(removeProjectOperation(projects));
    kinds.add(deployOperation(deployments));
    kinds.add(servicesOperation(services));
    kinds.add(certificateOperation(domains));
    kinds.add(retireCertificateOperation(domains));
    kinds.add(routeOperation(deployments));
    for (const make of [stopOperation, startOperation, removeEnvironmentOperation])
      kinds.add(make(deployments));
    for (const make of [backupOperation, restoreOperation, importOperation, discardOperation])
      kinds.add(make(backups));
    for (const kind of options.kinds ?? []) kinds.add(kind);
    queue.add(serverCheckSchedule(servers));
    queue.add(securitySchedule(servers));
    queue.add(checkProvidersSchedule(gitProviders));
    queue.add(pollSchedule(projects, config.pollSeconds));
    queue.add(lookAfterSchedule(deployments));
    queue.add(checkDomainsSchedule(domains));
    queue.add(renewCertificatesSchedule(domains));
    queue.add(backupSchedule(backups));
    queue.add(tidyMirrorsSchedule(projects));
    queue.add(pruneSchedule(db, kinds, config));
    queue.add(pruneDeploymentsSchedule(db, config.keepDeployments));
    queue.add(tidySchedule(accounts));
    queue.add(tidyNoticesSchedule({ db, clock }, config.eventDays));
    const context = { config, log, accessControl, limits, metrics };
    const readiness = { db, isStopping: () => stopping !== undefined };

    const server = await createServer(context);
    healthRoute(server);
    if (config.docs) docsRoutes(server);
    accountRoutes(server, accounts, () => publicUrl().startsWith('https:'));
    resetPage(server);
    operationRoutes(server, db, kinds, streams);
    const idempotency = new Idempotency(db, clock);
    serverRoutes(server, servers, idempotency);
    securityRoutes(server, servers, idempotency);
    gitProviderRoutes(server, gitProviders, idempotency);
    projectRoutes(server, projects, idempotency, streams);
    pushRoutes(server, projects);
    environmentRoutes(server, projects, idempotency);
    deploymentRoutes(server, deployments, idempotency, streams);
    upkeepRoutes(server, deployments, idempotency);
    const live = liveRoutes(server, {
      ...servers,
      sessions: authenticator,
      secretsOf: (workspaceId, environmentId) => knownSecrets(deployments, workspaceId, environmentId),
    });
    serviceRoutes(server, services);
    domainRoutes(server, domains, idempotency);
    backupRoutes(server, backups, idempotency);
    notificationRoutes(server, notifications, idempotency);
    if (config.monitorListen.at === 'main') monitorRoutes(server, readiness, metrics);

    throttle.start();
    undo.push(() => throttle.stop());
    undo.push(() => owedMails.stop());
    undo.push(() => deliveries.stop());
    if (config.monitorListen.at === 'address') {
      const monitor = await createServer(context);
      monitorRoutes(monitor, readiness, metrics);
      const { host, port } = config.monitorListen;
      const drainMonitor = drainable(monitor.server, () => monitor.close());
      await listen(monitor, host, port, 'SLIPWAY_MONITOR_LISTEN');
      undo.push(drainMonitor);
    }
    await listener.on('slipway_events', hub);
    await listener.on('slipway_sessions', streams);
    await listener.on('slipway_operations', runner);
    await listener.on(noticesChannel, deliveries);
    await listener.start();
    hub.start();
    undo.push(() => hub.stop());
    undo.push(() => queue.stop());
    streams.start();
    const drain = drainable(server.server, () => server.close());
    url = await listen(server, config.host, config.port, 'SLIPWAY_PORT');
    undo.push(drain);
    undo.push(() => streams.stop());
    undo.push(() => live.stop());
    // First of all: whoever takes over should not wait for our last requests.
    undo.push(() => runner.stop());

    // What only the first users need, once everyone can be served.
    owedMails.start();
    deliveries.start();
    runner.start();
    void queue.start(() => runner.poll());
    void preparePasswords();
    if (config.monitorListen.at !== 'off') void metrics.load();
    return {
      url,
      publicUrl: publicUrl(),
      mailer,
      store,
      server,
      streams,
      queue,
      servers,
      gitProviders,
      projects,
      deployments,
      domains,
      backups,
      deliveries,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function listen(server: HttpServer, host: string, port: number, setting: string): Promise<string> {
  try {
    await server.listen({ host, port });
  } catch (error) {
    const code = errorCode(error);
    const where = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    if (code === 'EADDRINUSE') {
      throw new Fault(
        'port_taken',
        `${where} is taken by another program. Stop it, or set ${setting} to another one.`,
      );
    }
    if (code === 'EADDRNOTAVAIL' || code === 'EACCES' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
      throw new Fault(
        'wrong_setting',
        `Slipway cannot listen on ${where} (${code}). Check SLIPWAY_HOST and ${setting}.`,
      );
    }
    throw error;
  }
  const address = server.server.address() as AddressInfo;
  const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${shown}:${address.port}`;
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
