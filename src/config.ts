/**
 * Every setting, in one validated table. Owns the names, defaults and meanings of `SLIPWAY_*`; refuses unknown
 * names and wrong values with a sentence that names the setting. Nothing else reads the environment.
 */
import { Fault } from './fault.ts';
import { oidcSettings, readOidc } from './oidc-settings.ts';
import { optional, type Setting, setting } from './setting.ts';
import * as read from './setting-values.ts';

export const settings = {
  host: setting('SLIPWAY_HOST', '127.0.0.1', read.text, 'Address to listen on.'),
  port: setting(
    'SLIPWAY_PORT',
    '4400',
    read.wholeNumber(0, 65_535),
    'Port to listen on; 0 takes a free one.',
  ),
  publicUrl: optional(
    'SLIPWAY_PUBLIC_URL',
    read.webOrigin,
    'Where people reach the service; links in mails begin with it. Absent: `http://HOST:PORT`.',
  ),
  dataDir: setting('SLIPWAY_DATA_DIR', './data', read.folder, 'Folder for database, key and outbox.'),
  databaseUrl: optional(
    'SLIPWAY_DATABASE_URL',
    read.postgresUrl,
    'A PostgreSQL server, version 15 or later. Absent: an embedded one in the data folder.',
    true,
  ),
  masterKeys: optional(
    'SLIPWAY_MASTER_KEY',
    read.masterKeys,
    'The key that seals secrets, 32 bytes in base64; older keys may follow after commas. Absent: generated once into the data folder.',
    true,
  ),
  smtpUrl: optional(
    'SLIPWAY_SMTP_URL',
    read.smtpUrl,
    'SMTP server for mail. Absent: mail is written to `DATA_DIR/outbox` and printed.',
    true,
  ),
  mailFrom: setting('SLIPWAY_MAIL_FROM', 'Slipway <slipway@localhost>', read.text, 'Sender of mails.'),
  docs: optional(
    'SLIPWAY_DOCS',
    read.onOff,
    'Serve `/api/docs`. Absent: `on`, but `off` where `NODE_ENV=production`.',
  ),
  registration: optional(
    'SLIPWAY_REGISTRATION',
    read.oneOf('open', 'first', 'closed'),
    'Who may register: everyone (`open`), the first account alone (`first`), or nobody (`closed`). Absent: `open` where only this machine reaches the service (`SLIPWAY_HOST` is a loopback address, and `SLIPWAY_PUBLIC_URL` names no other machine), `first` elsewhere.',
  ),
  trustedProxies: setting(
    'SLIPWAY_TRUSTED_PROXIES',
    '',
    read.addressList,
    'Addresses or CIDR blocks, separated by commas, whose `X-Forwarded-For` and `X-Forwarded-Proto` count.',
  ),
  corsOrigins: setting(
    'SLIPWAY_CORS_ORIGINS',
    '',
    read.webOriginList,
    'Origins, separated by commas, whose pages may call the API from a browser.',
  ),
  monitorListen: optional(
    'SLIPWAY_MONITOR_LISTEN',
    read.monitorListen,
    'Where `/readyz` and `/metrics` listen: `main` (the port of the API), `off`, or `HOST:PORT`. Absent: `main` on a loopback address, or where `SLIPWAY_MONITOR_TOKEN` is set; `off` elsewhere.',
  ),
  monitorToken: optional(
    'SLIPWAY_MONITOR_TOKEN',
    read.monitorToken,
    'What `/readyz` and `/metrics` ask for as `Authorization: Bearer`, 16 characters or more. Absent: nothing; then they do not answer what a proxy passes on to the port of the API, and `SLIPWAY_MONITOR_LISTEN=main` is refused on other addresses than loopback.',
    true,
  ),
  logLevel: setting(
    'SLIPWAY_LOG_LEVEL',
    'info',
    read.oneOf('trace', 'debug', 'info', 'warn', 'error', 'silent'),
    'Least severe log lines to write.',
  ),
  acmeDirectory: setting(
    'SLIPWAY_ACME_DIRECTORY',
    'https://acme-v02.api.letsencrypt.org/directory',
    read.webAddress,
    'Directory of the certificate authority (ACME).',
  ),
  acmeCaFile: optional(
    'SLIPWAY_ACME_CA_FILE',
    read.readableFile,
    'Certificates (PEM) that the authority’s own address is checked against, beside the usual ones. Absent: those of `SLIPWAY_CA_FILE`.',
  ),
  limitRequests: setting(
    'SLIPWAY_LIMIT_REQUESTS',
    '300',
    read.wholeNumber(1, 1_000_000),
    'Requests a minute per account, and per address where there is none.',
  ),
  limitSignIn: setting(
    'SLIPWAY_LIMIT_SIGN_IN',
    '10',
    read.wholeNumber(1, 1_000_000),
    'Calls a minute of sign-in, register, code and reset each, from one address. One e-mail takes as many from one network, and five times as many from all (twice, where mails are sent). A device that has signed in before has as many of its own.',
  ),
  limitSearch: setting(
    'SLIPWAY_LIMIT_SEARCH',
    '60',
    read.wholeNumber(1, 1_000_000),
    'Searches of repositories, lists of branches, direct analyses and looks at domains a minute per account.',
  ),
  limitTriggers: setting(
    'SLIPWAY_LIMIT_TRIGGERS',
    '30',
    read.wholeNumber(1, 1_000_000),
    'Deployments and backups that an account may start in a minute.',
  ),
  limitStreams: setting(
    'SLIPWAY_LIMIT_STREAMS',
    '50',
    read.wholeNumber(1, 1_000_000),
    'Streams of events that an account may have open at once, on each instance.',
  ),
  limitStreamsTotal: setting(
    'SLIPWAY_LIMIT_STREAMS_TOTAL',
    '5000',
    read.wholeNumber(1, 1_000_000),
    'Streams of events that are open at once on an instance, of all accounts together.',
  ),
  limitTests: setting(
    'SLIPWAY_LIMIT_TESTS',
    '10',
    read.wholeNumber(1, 1_000_000),
    'Tests of servers and of notification connectors a minute per account, each. Registering and changing a server counts as a test of it.',
  ),
  pollSeconds: setting(
    'SLIPWAY_POLL_SECONDS',
    '300',
    read.wholeNumber(0, 86_400),
    'How often the branches of projects that deploy on push are looked at, in case a webhook did not arrive; 0 never.',
  ),
  mirrorMegabytes: setting(
    'SLIPWAY_LIMIT_MIRROR_MB',
    '2048',
    read.wholeNumber(1, 1_000_000),
    'The largest repository that is fetched, in megabytes.',
  ),
  mirrorsMegabytes: setting(
    'SLIPWAY_LIMIT_MIRRORS_MB',
    '20480',
    read.wholeNumber(1, 10_000_000),
    'What the copies of all repositories of one workspace may take on the disk, in megabytes. Those that were not used for longest go first, and are fetched again when they are needed.',
  ),
  keepFreeMegabytes: setting(
    'SLIPWAY_KEEP_FREE_MB',
    '1024',
    read.wholeNumber(0, 10_000_000),
    'What is to stay free on the disks of the data folder and of local backups, in megabytes: below it no repository is fetched and no backup stored there, so that the database can go on.',
  ),
  allowPrivateEgress: setting(
    'SLIPWAY_ALLOW_PRIVATE_EGRESS',
    'off',
    read.onOff,
    'Whether addresses that users name (Git hosts, for example) may be private ones, and plain http.',
  ),
  serverNetworks: optional(
    'SLIPWAY_SERVER_NETWORKS',
    read.serverNetworks,
    'Where servers may stand beside the internet: addresses and CIDR blocks separated by commas, `private` for all private ranges, or `none`. An address of the machine that Slipway runs on counts only where it is named by itself. Absent: `private` where `SLIPWAY_HOST` is a loopback or private address, `none` elsewhere.',
  ),
  dnsServers: setting(
    'SLIPWAY_DNS_SERVERS',
    '',
    read.dnsServerList,
    'Name servers to ask, as addresses with an optional port, separated by commas. Absent: the machine’s own.',
  ),
  caFile: optional(
    'SLIPWAY_CA_FILE',
    read.readableFile,
    'Certificates in PEM that are trusted beside the usual ones, when we connect to Git hosts and the like.',
  ),
  eventDays: setting(
    'SLIPWAY_EVENT_DAYS',
    '14',
    read.wholeNumber(1, 3_650),
    'How many days events and the logs of operations are kept.',
  ),
  operationDays: setting(
    'SLIPWAY_OPERATION_DAYS',
    '90',
    read.wholeNumber(1, 3_650),
    'How many days operations that have ended are kept, with their steps.',
  ),
  auditDays: setting(
    'SLIPWAY_AUDIT_DAYS',
    '365',
    read.wholeNumber(31, 3_650),
    'How many days the audit log is kept. The last thirty cannot be deleted by anybody.',
  ),
  keepDeployments: setting(
    'SLIPWAY_KEEP_DEPLOYMENTS',
    '200',
    read.wholeNumber(10, 1_000_000),
    'How many deployments of an environment are kept. What is live stays in any case, and what can be gone back to without a build.',
  ),
  operationsPerWorkspace: setting(
    'SLIPWAY_LIMIT_OPERATIONS_PER_WORKSPACE',
    '8',
    read.wholeNumber(1, 1_000),
    'Operations of one workspace that run at once; the others wait.',
  ),
  operationsPerServer: setting(
    'SLIPWAY_LIMIT_OPERATIONS_PER_SERVER',
    '2',
    read.wholeNumber(1, 1_000),
    'Operations on one server that run at once; the others wait.',
  ),
  backupDir: optional(
    'SLIPWAY_BACKUP_DIR',
    read.folder,
    'Folder for backups that go to no S3. Absent: `DATA_DIR/backups`.',
  ),
  importMegabytes: setting(
    'SLIPWAY_LIMIT_IMPORT_MB',
    '10240',
    read.wholeNumber(1, 10_000_000),
    'The largest file that can be imported into a database, in megabytes.',
  ),
  importDataMegabytes: setting(
    'SLIPWAY_LIMIT_IMPORT_DATA_MB',
    '40960',
    read.wholeNumber(1, 100_000_000),
    'How much data an imported file may become in its database, on the disk of the server, in megabytes.',
  ),
  uploadDir: optional(
    'SLIPWAY_UPLOAD_DIR',
    read.folder,
    'Folder for working trees that are uploaded to be deployed; several instances must share it. Absent: `DATA_DIR/uploads`.',
  ),
  uploadMegabytes: setting(
    'SLIPWAY_LIMIT_UPLOAD_MB',
    '512',
    read.wholeNumber(1, 100_000),
    'The largest archive of a working tree that can be uploaded, in megabytes as it is sent.',
  ),
  uploadUnpackedMegabytes: setting(
    'SLIPWAY_LIMIT_UPLOAD_UNPACKED_MB',
    '2048',
    read.wholeNumber(1, 1_000_000),
    'How large such an archive may be when it is unpacked, in megabytes.',
  ),
  uploadFiles: setting(
    'SLIPWAY_LIMIT_UPLOAD_FILES',
    '50000',
    read.wholeNumber(1, 200_000),
    'How many files such an archive may have.',
  ),
  uploadsMegabytes: setting(
    'SLIPWAY_LIMIT_UPLOADS_MB',
    '10240',
    read.wholeNumber(1, 10_000_000),
    'What all uploads of one workspace may take on the disk, in megabytes. The oldest that nothing runs of go first.',
  ),
  backupKeepReplacedDays: setting(
    'SLIPWAY_BACKUP_KEEP_REPLACED_DAYS',
    '7',
    read.wholeNumber(0, 365),
    'How many days data that a restore or an import has replaced is kept beside.',
  ),
  ...oidcSettings,
} as const;

export type Config = ReturnType<typeof readConfig>;

export function readConfig(env: Readonly<Record<string, string | undefined>>) {
  refuseUnknown(env);
  const value = <T>(which: Setting<T>): T => parse(which, env[which.env]);
  const host = value(settings.host);
  const publicUrl = value(settings.publicUrl);
  const isLocal = read.isLoopback(host);
  const monitorToken = value(settings.monitorToken);
  const monitorListen = value(settings.monitorListen) ?? { at: isLocal || monitorToken ? 'main' : 'off' };
  if (monitorListen.at === 'main' && !isLocal && !monitorToken) {
    const sentence =
      'SLIPWAY_MONITOR_LISTEN=main would show the inside of the service to everyone who reaches it.';
    throw new Fault(
      'wrong_setting',
      `${sentence} Set SLIPWAY_MONITOR_TOKEN, or give it a HOST:PORT of its own.`,
    );
  }
  return {
    host,
    port: value(settings.port),
    publicUrl,
    dataDir: value(settings.dataDir),
    databaseUrl: value(settings.databaseUrl),
    masterKeys: value(settings.masterKeys),
    smtpUrl: value(settings.smtpUrl),
    mailFrom: value(settings.mailFrom),
    docs: value(settings.docs) ?? env.NODE_ENV !== 'production',
    // Behind a proxy on the same machine it listens on loopback, and everyone reaches it.
    registration:
      value(settings.registration) ?? (isLocal && read.isLoopbackUrl(publicUrl) ? 'open' : 'first'),
    trustedProxies: value(settings.trustedProxies),
    corsOrigins: value(settings.corsOrigins),
    monitorListen,
    monitorToken,
    logLevel: value(settings.logLevel),
    acmeDirectory: value(settings.acmeDirectory),
    acmeCaFile: value(settings.acmeCaFile),
    limitRequests: value(settings.limitRequests),
    limitSignIn: value(settings.limitSignIn),
    limitSearch: value(settings.limitSearch),
    limitTriggers: value(settings.limitTriggers),
    limitStreams: value(settings.limitStreams),
    limitStreamsTotal: value(settings.limitStreamsTotal),
    limitTests: value(settings.limitTests),
    pollSeconds: value(settings.pollSeconds),
    mirrorMegabytes: value(settings.mirrorMegabytes),
    mirrorsMegabytes: value(settings.mirrorsMegabytes),
    keepFreeMegabytes: value(settings.keepFreeMegabytes),
    allowPrivateEgress: value(settings.allowPrivateEgress),
    serverNetworks: value(settings.serverNetworks),
    dnsServers: value(settings.dnsServers),
    caFile: value(settings.caFile),
    eventDays: value(settings.eventDays),
    operationDays: value(settings.operationDays),
    auditDays: value(settings.auditDays),
    keepDeployments: value(settings.keepDeployments),
    operationsPerWorkspace: value(settings.operationsPerWorkspace),
    operationsPerServer: value(settings.operationsPerServer),
    backupDir: value(settings.backupDir),
    importMegabytes: value(settings.importMegabytes),
    importDataMegabytes: value(settings.importDataMegabytes),
    uploadDir: value(settings.uploadDir),
    uploadMegabytes: value(settings.uploadMegabytes),
    uploadUnpackedMegabytes: value(settings.uploadUnpackedMegabytes),
    uploadFiles: value(settings.uploadFiles),
    uploadsMegabytes: value(settings.uploadsMegabytes),
    backupKeepReplacedDays: value(settings.backupKeepReplacedDays),
    oidc: readOidc(env, value),
  } as const;
}

function parse<T>(which: Setting<T>, raw: string | undefined): T {
  const text = raw === undefined || raw === '' ? which.standard : raw;
  if (text === undefined) return which.absent();
  const parsed = which.parse(text);
  if (parsed.ok) return parsed.value;
  const shown = which.secret ? 'its value' : JSON.stringify(text);
  throw new Fault('wrong_setting', `${which.env} is wrong: ${shown} ${parsed.problem}.`);
}

function refuseUnknown(env: Readonly<Record<string, string | undefined>>): void {
  const known = new Set<string>(Object.values(settings).map((each) => each.env));
  for (const name of Object.keys(env)) {
    if (!name.startsWith('SLIPWAY_') || known.has(name)) continue;
    const hint = 'docs/guides/settings.md lists all settings.';
    throw new Fault('wrong_setting', `${name} is not a setting of Slipway. ${hint}`);
  }
}
