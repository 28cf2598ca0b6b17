/** Composition: the only file that knows everyone. Starts the floors from the ground up, stops them top down. */
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { type Mailer, outboxMailer, smtpMailer } from './adapters/mail/mail.ts';
import type { AccountsContext } from './areas/accounts/accounts.ts';
import { Authenticator } from './areas/accounts/authenticate.ts';
import { OwedMails } from './areas/accounts/owed-mails.ts';
import { preparePasswords } from './areas/accounts/passwords.ts';
import { resetPage } from './areas/accounts/reset-page.ts';
import { accountRoutes } from './areas/accounts/routes.ts';
import { keepAccountsTidy } from './areas/accounts/tidy-accounts.ts';
import { type Clock, systemClock } from './clock.ts';
import type { Config } from './config.ts';
import { errorCode, Fault } from './fault.ts';
import { AccessControl } from './http/access.ts';
import { docsRoutes } from './http/docs.ts';
import { Limits } from './http/limits.ts';
import { healthRoute, Metrics, monitorRoutes } from './http/monitor.ts';
import { createServer, type HttpServer } from './http/server.ts';
import { Throttle } from './http/throttle.ts';
import { openStore, type Store } from './store/store.ts';

export interface App {
  /** Where it really listens, with the port that was taken. */
  readonly url: string;
  readonly publicUrl: string;
  readonly mailer: Mailer;
  readonly store: Store;
  readonly server: HttpServer;
  stop(): Promise<void>;
}

export interface AppOptions {
  readonly clock?: Clock;
  readonly print?: (text: string) => void;
}

const drainWithinMs = 10_000;

export async function startApp(config: Config, log: Logger, options: AppOptions = {}): Promise<App> {
  const { clock = systemClock, print = () => undefined } = options;
  const undo: (() => unknown)[] = [];
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= (async () => {
      for (const step of undo.splice(0).reverse()) await step();
    })();
    return stopping;
  };

  try {
    const store = await openStore(config, log);
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
    const accessControl = new AccessControl(new Authenticator(db, clock, masterKeys), limits);
    const metrics = new Metrics();
    const context = { config, log, accessControl, limits, metrics };
    const readiness = { db, isStopping: () => stopping !== undefined };

    const server = await createServer(context);
    healthRoute(server);
    if (config.docs) docsRoutes(server);
    accountRoutes(server, accounts, () => publicUrl().startsWith('https:'));
    resetPage(server);
    if (config.monitorListen.at === 'main') monitorRoutes(server, readiness, metrics);

    throttle.start();
    undo.push(() => throttle.stop());
    undo.push(() => owedMails.stop());
    undo.push(keepAccountsTidy(accounts, log));
    if (config.monitorListen.at === 'address') {
      const monitor = await createServer(context);
      monitorRoutes(monitor, readiness, metrics);
      await listen(monitor, config.monitorListen.host, config.monitorListen.port, 'SLIPWAY_MONITOR_LISTEN');
      undo.push(() => drain(monitor));
    }
    url = await listen(server, config.host, config.port, 'SLIPWAY_PORT');
    undo.push(() => drain(server));

    // What only the first users need, once everyone can be served.
    owedMails.start();
    void preparePasswords();
    if (config.monitorListen.at !== 'off') void metrics.load();
    return { url, publicUrl: publicUrl(), mailer, store, server, stop };
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

/** Lets requests finish; what takes longer than the deadline is cut. */
async function drain(server: HttpServer): Promise<void> {
  const late = setTimeout(() => server.server.closeAllConnections(), drainWithinMs);
  // A connection whose last answer was under way is kept alive by its client: nobody else closes it.
  const sweep = setInterval(() => server.server.closeIdleConnections(), 50);
  await server.close();
  clearInterval(sweep);
  clearTimeout(late);
}
