/** What the areas share: the store, the ways out, the queue of operations. Made once; what has to be closed is noted. */
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Acme } from './adapters/acme/acme.ts';
import type { Dns } from './adapters/dns/dns.ts';
import { kindOfAddress } from './adapters/egress/address-kinds.ts';
import { createEgress, type Egress } from './adapters/egress/egress.ts';
import { listensPrivately, serverResolver } from './adapters/egress/server-networks.ts';
import type { Mirrors } from './adapters/git/mirrors.ts';
import type { Uploads } from './adapters/git/uploads/uploads.ts';
import { type Mailer, outboxMailer, smtpMailer } from './adapters/mail/mail.ts';
import { createOidcProvider, type OidcProvider } from './adapters/oidc/oidc.ts';
import { createLocalStorage } from './adapters/storage/local-folder.ts';
import type { Storage } from './adapters/storage/storage.ts';
import type { ProcessLimits } from './analysis/limits.ts';
import { Analyst } from './analysis/process/analyst.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { OidcConfig } from './oidc-settings.ts';
import { once } from './once.ts';
import { OperationKinds } from './operations/kinds.ts';
import { OperationQueue } from './operations/queue.ts';
import { createRemotePool } from './remote/pool.ts';
import type { RemotePool } from './remote/remote.ts';
import type { ResolveHost } from './remote/ssh/tcp.ts';
import type { Store } from './store/store.ts';

const megabyte = 1024 * 1024;

export interface Resources {
  readonly config: Config;
  readonly log: Logger;
  readonly clock: Clock;
  readonly store: Store;
  readonly mailer: Mailer;
  readonly queue: OperationQueue;
  readonly kinds: OperationKinds;
  readonly pool: RemotePool;
  /** From the host of a server to the addresses that it may have. */
  readonly resolveServer: ResolveHost;
  /** To addresses that users give. */
  readonly egress: Egress;
  /** What people may sign in with, where the settings name it. */
  readonly oidc: { readonly config: OidcConfig; readonly provider: OidcProvider } | undefined;
  readonly localStorage: Storage;
  /** Looks into the files of repositories, in processes of its own. */
  readonly analyst: Analyst;
  /** Loaded with their first use: a start has none for them. */
  readonly mirrors: () => Promise<Mirrors>;
  readonly uploads: () => Promise<Uploads>;
  readonly dns: () => Promise<Dns>;
  readonly acme: () => Promise<Acme>;
}

export interface ResourceOptions {
  readonly config: Config;
  readonly log: Logger;
  readonly clock: Clock;
  readonly store: Store;
  readonly print: (text: string) => void;
  readonly onStop: (close: () => unknown) => void;
  readonly analysisLimits: Partial<ProcessLimits> | undefined;
}

export function createResources(options: ResourceOptions): Resources {
  const { config, log, clock, store, print, onStop } = options;
  const { dnsServers, allowPrivateEgress: allowPrivate } = config;
  const keepFreeBytes = config.keepFreeMegabytes * megabyte;
  const resolveServer = serverResolver(
    config.serverNetworks ?? { allowPrivate: listensPrivately(config.host), networks: [] },
  );
  const pool = createRemotePool(resolveServer, log);
  onStop(() => pool.close());
  const egress = createEgress({ allowPrivate, dnsServers, ...caFileOf(config.caFile) });
  onStop(() => egress.close());
  // The authority is the operator's choice, not a user's: it may be in the operator's own network. What it names is not.
  const authorityEgress = createEgress({
    allowPrivate,
    privateOrigin: new URL(config.acmeDirectory).origin,
    dnsServers,
    ...caFileOf(config.acmeCaFile ?? config.caFile),
  });
  onStop(() => authorityEgress.close());
  const oidc = config.oidc && openOidc(config.oidc);
  const analyst = new Analyst(options.analysisLimits);
  onStop(() => analyst.close());
  /** The operator's choice, as the authority is: it may be in their own network; what it names elsewhere may not. */
  function openOidc(chosen: OidcConfig) {
    const { issuer, clientId, clientSecret, scopes, groupsClaim, roles } = chosen;
    const { fetch, close } = createEgress({
      allowPrivate,
      privateOrigin: new URL(issuer).origin,
      dnsServers,
      ...caFileOf(config.caFile),
    });
    onStop(close);
    const asked = {
      issuer,
      clientId,
      clientSecret,
      scopes,
      groupsClaim: roles.size > 0 ? groupsClaim : undefined,
    };
    return { config: chosen, provider: createOidcProvider({ ...asked, fetch, clock }) };
  }
  return {
    config,
    log,
    clock,
    store,
    mailer: config.smtpUrl
      ? smtpMailer(config.smtpUrl, config.mailFrom)
      : outboxMailer(store.folder.outboxDir, config.mailFrom, print),
    queue: new OperationQueue(store.db, store.listener, log),
    kinds: new OperationKinds(),
    pool,
    resolveServer,
    egress,
    oidc,
    analyst,
    localStorage: createLocalStorage(config.backupDir ?? join(store.folder.path, 'backups'), keepFreeBytes),
    mirrors: once(async () => {
      const { createMirrors } = await import('./adapters/git/mirrors.ts');
      return createMirrors({
        folder: store.folder.gitDir,
        resolve: egress.resolve,
        fetch: egress.fetch,
        log,
        allowHttp: allowPrivate,
        limits: {
          maxBytes: config.mirrorMegabytes * megabyte,
          maxOwnerBytes: config.mirrorsMegabytes * megabyte,
          keepFreeBytes,
        },
        ...caFileOf(config.caFile),
      });
    }),
    uploads: once(async () => {
      const { Uploads } = await import('./adapters/git/uploads/uploads.ts');
      return new Uploads(config.uploadDir ?? store.folder.uploadsDir, {
        maxSentBytes: config.uploadMegabytes * megabyte,
        maxUnpackedBytes: config.uploadUnpackedMegabytes * megabyte,
        maxFiles: config.uploadFiles,
        maxOwnerBytes: config.uploadsMegabytes * megabyte,
        keepFreeBytes,
      });
    }),
    dns: once(async () => {
      const { createDns } = await import('./adapters/dns/dns.ts');
      return createDns({ servers: dnsServers ?? [], allowPrivate, kindOfAddress });
    }),
    acme: once(async () => {
      const { createAcme } = await import('./adapters/acme/acme.ts');
      const { acmeDirectory: directoryUrl } = config;
      return createAcme({ directoryUrl, userAgent: 'slipway', fetch: authorityEgress.fetch, clock });
    }),
  };
}

function caFileOf(caFile: string | undefined): { caFile?: string } {
  return caFile === undefined ? {} : { caFile };
}
