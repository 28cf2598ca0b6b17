/**
 * What can go wrong, in one closed list. A Fault is made to be shown: a code for programs, a sentence for the
 * person, a hint that helps, and the evidence. It knows nothing of HTTP; `http/problem.ts` gives it a status.
 */

/** Codes that a caller of the API can meet, with what each means. */
export const apiFaultCodes = {
  access_denied: 'The person who was asked to allow a program refused it.',
  acme_nonsense: 'The certificate authority gives an answer that cannot be understood.',
  acme_rate_limited: 'The certificate authority takes no more requests for now; it is asked again by itself.',
  acme_refused: 'The certificate authority refuses the request; what it says is in the sentence.',
  acme_unreachable: 'The certificate authority cannot be reached, or is out of order.',
  already_finalized: 'The project has been finalised; more environments are made on their own.',
  already_finished: 'The operation has ended; it cannot be cancelled any more.',
  already_member: 'Somebody with this address is in the workspace already.',
  analysis_running: 'The repository of the project is being analysed.',
  analysis_stopped:
    'The analysis was ended: the repository needs more time, memory or processor time than one gets.',
  app_bound_to_localhost:
    'The app listens on localhost only, where nothing outside its container can reach it.',
  app_crash_loop: 'The app ends again and again, each time soon after it was started.',
  app_crashed: 'The app ended instead of running on.',
  app_not_found: 'The commit has no app in the folder that the environment is about.',
  app_not_http: 'Something listens on the port of the app, but does not speak HTTP there.',
  app_not_listening: 'The app runs, but listens on no port.',
  app_out_of_memory: 'The app was ended because it used more memory than it has.',
  app_redirects: 'The app answers the health check with a redirect.',
  app_unhealthy: 'The app answers the health check with an error, or not in time.',
  app_wrong_port: 'The app listens on another port than the one that is expected.',
  architectures_differ: 'The servers of a cluster have to be of one architecture; images are built for it.',
  archive_invalid:
    'An uploaded archive cannot be read, or has an entry that is not taken; the sentence names it.',
  bad_request: 'The request is not well-formed HTTP, or its JSON cannot be parsed.',
  backup_damaged: 'A stored backup was changed or cut short since it was written; nothing of it is used.',
  backup_incompatible: 'A backup does not fit what is there now: another kind, another version, or gone.',
  backup_key_mismatch: 'A stored backup was encrypted with another key than the one of this workspace.',
  backup_last_good: 'It is the last good backup of its kind; deleting it has to be asked for by `force`.',
  backup_missing: 'A stored backup is not in its storage any more.',
  backup_not_equal: 'A restored copy of a backup is not what was dumped, so the backup is not good.',
  backup_unfinished:
    'The backup is still being made, or has failed; only one that has succeeded can be used.',
  build_failed: 'The image could not be built; the last lines of the step that failed say why.',
  build_lost: 'A build was cut off by the server before it could end.',
  build_out_of_memory: 'The build needed more memory than builds may take on the server.',
  cancelled: 'Someone cancelled it.',
  certificate_invalid: 'A certificate or its key cannot be used; `errors` says why.',
  challenge_failed:
    'The certificate authority looked at a name over HTTP and did not find this server answering there.',
  changed_since: 'A file on the server was changed by someone else since; undoing would lose that change.',
  clock_wrong: 'The clock of the server is off by more than a minute.',
  cluster_busy: 'Another operation is under way on the cluster.',
  cluster_no_quorum: 'The managers of the cluster have lost their majority, so nothing of it can be changed.',
  cluster_ports_closed:
    'Members of a cluster do not reach each other on the ports of Docker Swarm; the sentence names which.',
  commit_not_found: 'The repository has no such branch, tag or commit.',
  database_down: 'The container of a database does not run, or the database does not answer.',
  database_unavailable: 'The database does not answer at the moment. Try again shortly.',
  deadline_exceeded: 'A step of an operation took longer than it may.',
  disk_full: 'The disk of the server is nearly full.',
  dns_wrong: 'The name does not lead to the server in DNS, or may have no certificate; `findings` says why.',
  docker_failed: 'Docker on the server could not do what it was asked.',
  docker_missing: 'Docker is not installed on the server, or does not answer.',
  docker_too_old: 'The Docker on the server is older than Slipway can work with.',
  domain_not_verified: 'The name has not been proven to be yours yet.',
  domain_taken: 'The name belongs to another workspace.',
  downtime_unconfirmed:
    'What was asked for takes something down for a while; the sentence says what, and `acceptDowntime` allows it.',
  dump_failed: 'The tool that makes a backup failed on the server; what it said is in the evidence.',
  egress_failed:
    'An address that was given cannot be reached, breaks off, or shows a certificate that is not trusted.',
  egress_refused:
    'The service does not connect to this address: it is private, or otherwise not one of the internet.',
  email_not_verified: 'The password is right, but the address has not been confirmed. A fresh code was sent.',
  expired_token: 'A device code is unknown, expired or already used, or was asked for from elsewhere.',
  forbidden: 'You may see this, but your role in the workspace does not allow the action.',
  fresh_proof_required: 'The call asks for your password or second factor again, with POST /auth/confirm.',
  git_failed: 'Git could not fetch or read the repository.',
  git_unavailable: 'Git is missing on the machine of the service, or too old.',
  headers_too_large: 'The request line and headers together are larger than the service accepts.',
  host_key_changed:
    'The host key of the server is not the one that was pinned. No work is done there until a person accepts the new one.',
  host_key_mismatch: 'The server shows another host key than the one given.',
  idempotency_in_progress: 'The first request with this Idempotency-Key is still being worked on.',
  idempotency_mismatch: 'This Idempotency-Key came with another request before.',
  import_failed: 'A statement of the imported file failed, so nothing of it was taken over.',
  import_format_unknown: 'The imported file is of a kind that cannot be read.',
  in_use: 'Something still uses this; `errors` names what.',
  internal_error: 'Something failed on our side. The request id finds it in the log.',
  invalid_challenge:
    'The challenge of a second factor is unknown, expired, already used, was tried too often, or was begun elsewhere.',
  invalid_consent_token: 'The link in a mail that asked for consent is unknown, expired or already used.',
  invalid_credentials: 'The e-mail address or the password is wrong.',
  invalid_input: 'A field is missing, unknown, or has a wrong value; `errors` lists each of them.',
  invalid_invitation: 'The invitation is unknown, expired, withdrawn or already accepted.',
  invalid_otp: 'The code is wrong, expired, already used, or was tried too often.',
  invalid_refresh_token: 'The refresh token is unknown, expired or spent. Sign in again.',
  invalid_reset_token: 'The reset link is unknown, expired or already used. Ask for a new one.',
  invalid_second_factor: 'The code or the answer of the passkey is wrong, expired or already used.',
  last_owner: 'The last owner of a workspace cannot leave it, or be less.',
  last_way_in: 'The account could not be signed in to any more without it.',
  lockout_prevented: 'A step was undone because a new login over the changed path did not succeed.',
  login_refused: 'The server refused the key or the password.',
  method_not_allowed: 'The path exists, but not with this method; `Allow` lists those it has.',
  mirrors_full: 'The copies of the repositories of the workspace take all the disk that they may.',
  name_not_resolved: 'The name of the server does not resolve to an address.',
  name_taken: 'Another one has this name already.',
  no_second_factor: 'The account has no second factor.',
  no_space: 'The disk of the service is nearly full; whoever runs it has to make room.',
  not_found: 'There is nothing here, or it is not yours.',
  not_on_cluster: 'The environment has something that cannot run on a cluster; `errors` says what.',
  nothing_to_back_up: 'The environment has no database and no volume with data yet.',
  nothing_to_roll_back: 'The deployment has no release that could be put back.',
  nothing_to_start: 'Nothing has been deployed to the environment yet.',
  passkey_known: 'The authenticator is registered already.',
  passkeys_unavailable: 'Passkeys do not work at the address at which the service is reached.',
  oidc_account_exists:
    'An account has this address already. It is linked only by its owner, signed in: never by the address alone.',
  oidc_denied: 'The OpenID Connect provider did not sign the person in.',
  oidc_email_refused:
    'The OpenID Connect provider gives no address, one that it does not call confirmed, or one of another domain.',
  oidc_failed: 'The OpenID Connect provider cannot be reached, or does not answer as one does.',
  oidc_linked: 'The account, or who signed in at the OpenID Connect provider, is linked already.',
  oidc_state_invalid:
    'The sign-in by OpenID Connect was begun in another browser, too long ago, or has been used.',
  oidc_untrusted: 'What the OpenID Connect provider answered did not pass the checks; nobody was signed in.',
  payload_too_large: 'The body is larger than this operation accepts.',
  port_filtered: 'The SSH port of the server does not answer at all, as behind a firewall.',
  port_refused: 'The server refuses connections on its SSH port.',
  project_not_ready: 'The project has not been analysed with success yet.',
  provider_failed: 'The Git provider answered with an error, or with something that cannot be understood.',
  provider_rate_limited:
    'The Git provider takes no more requests for this token for now; `Retry-After` says how long.',
  provider_rejected: 'The Git provider refuses the token: it is wrong, expired or revoked.',
  provider_scopes_missing: 'The token is valid, but lacks a scope that this needs.',
  provider_unreachable: 'The Git provider does not answer.',
  proxy_check_failed: 'A new release is healthy, but does not answer through the proxy.',
  proxy_down: 'The proxy on the server does not run, or does not answer.',
  proxy_failed: 'The server has no proxy, or it refused what it was told.',
  rate_limited: 'Too many requests; `Retry-After` says in how many seconds to go on.',
  registration_closed: 'This instance does not take new accounts.',
  release_command_failed: 'The release command of the app failed, so the new release was not started.',
  remote_failed: 'A command on the server failed.',
  remote_fenced: 'The server has seen a newer worker; this one may do nothing there any more.',
  remote_timeout: 'A command on the server took longer than it may.',
  remote_unreachable: 'The server cannot be reached over SSH.',
  repository_not_found: 'The Git provider has no such repository, or the token may not see it.',
  repository_too_large: 'The repository is larger than the service fetches.',
  removal_unconfirmed:
    'A change would remove what it does not name; `errors` lists what has to be confirmed.',
  request_timeout: 'The request took too long to arrive.',
  restore_failed: 'A backup could not be loaded; the data is as it was before.',
  second_factor_missing: 'The workspace requires a second factor, and the account has none.',
  second_factor_required: 'The account has a second factor, and it has to be proven with that.',
  server_busy: 'Another operation of this kind is under way on the server.',
  server_full: 'The server has no address left for another environment.',
  server_in_cluster: 'The server is a member of a cluster.',
  server_in_swarm: 'The server is in a Docker Swarm that this cluster is not.',
  server_not_in_network: 'The server has no address by which the members of the cluster could reach it.',
  server_not_linked: 'The environment stands on no server yet.',
  server_not_ready: 'The server is not ready for this yet.',
  server_taken: 'The machine is registered as another server already, here or in another workspace.',
  services_hold_data: 'The environment has data on a server that would be left or lost.',
  service_data_elsewhere: 'The data of a service is on another server than its environment.',
  service_unhealthy: 'A service of the environment does not become ready.',
  service_version_refused: 'The data of a service cannot be read by the version or kind that is wanted.',
  shutting_down: 'The service is stopping. Try again in a moment.',
  signature_invalid: 'The signature of a webhook delivery is missing or wrong.',
  slow_down:
    'A program looks for its answer more often than it was told to; `Retry-After` says how long to wait.',
  ssh_algorithms_weak: 'The server offers only SSH algorithms that are no longer safe.',
  storage_failed: 'The storage of backups did not keep or give what it promised.',
  storage_full: 'The storage of backups has no room left.',
  storage_refused: 'The storage of backups refuses the keys, the bucket, the folder or the rights.',
  storage_unreachable: 'The storage of backups cannot be reached, or is out of order.',
  sudo_refused: 'The user may not become root on the server without a password.',
  system_unsupported: 'The operating system of the server is not one that Slipway supports.',
  unauthenticated: 'No valid access token came with the request.',
  undo_failed: 'An operation failed, and not everything it did could be undone.',
  unsupported_media_type: 'The body must be sent as `application/json`.',
  upgrade_required: 'The path becomes a stream of bytes, and the request does not ask for that.',
  upload_gone: 'The files that were uploaded for a release are no longer kept.',
  uploads_full: 'The uploads of the workspace take all the disk that they may.',
  work_lost: 'Work on a server was cut off, by a restart for example, before it could end.',
  workspace_closing: 'The workspace is being removed already.',
  worker_crashed:
    'The service stopped again and again while it worked on one step, so the step was given up.',
} as const;

/** Codes that stop a start; they end as one sentence on standard error. */
export const startFaultCodes = {
  data_folder_in_use: 'Another Slipway runs on the same data folder.',
  data_folder_unusable: 'The data folder cannot be created or written.',
  database_changed: 'A migration that was applied differs from the one in this code.',
  database_newer: 'The database was made by a newer Slipway.',
  database_too_old: 'The PostgreSQL server is too old.',
  database_unreachable: 'The PostgreSQL server does not answer.',
  embedded_database_failed: 'The embedded PostgreSQL did not start.',
  port_taken: 'The port is used by another program.',
  sealed_value_unreadable: 'A sealed value cannot be opened: wrong key, wrong place, or altered.',
  state_file_damaged: 'A backup of Slipway’s own state is not whole.',
  state_file_refused: 'A backup of Slipway’s own state was made by another version.',
  state_refused: 'A backup of Slipway’s own state cannot be made from here, or restored to here.',
  wrong_master_key: 'The database was sealed with another master key.',
  wrong_setting: 'A setting has a value that cannot be used.',
} as const;

export type ApiFaultCode = keyof typeof apiFaultCodes;
export type FaultCode = ApiFaultCode | keyof typeof startFaultCodes;

/**
 * What helps in general, where the one that throws knows nothing better. A code that is not here has no such thing: there,
 * each fault says it itself, or by its `errors`. Nor has one that stops a start: its one sentence says both.
 */
const usualHints: Partial<Record<FaultCode, string>> = {
  already_finalized: 'Make further environments with POST /environments.',
  already_finished: 'Start it again if you want it again; what has ended stays as it is.',
  backup_unfinished: 'Wait until its status is `succeeded`, or use another backup.',
  bad_request: 'Send one whole HTTP request; a body is one JSON object, in UTF-8.',
  build_failed:
    'The log of the deployment has the whole output of the build. Mend it there, push, and deploy again.',
  certificate_invalid: 'Send the whole chain in PEM, with the certificate of the name first.',
  cluster_busy: 'Wait for that operation to end, or cancel it.',
  commit_not_found: 'Check the branch, tag or commit, or leave it away for the newest one of the branch.',
  database_down:
    'Look at the service with GET /environments/:id/services: its problem has the last lines of its log.',
  deadline_exceeded: 'Try again. If it stays, see in its log what it waited for.',
  disk_full:
    'Make room on the server (`docker system df` shows what images and build caches take), then try again.',
  docker_failed: 'What Docker said is in the evidence. `journalctl -u docker` on the server has more.',
  docker_missing:
    'See on the server whether Docker runs (`systemctl status docker`), or provision the server again.',
  dump_failed:
    'The evidence has what the tool printed. See whether the service is healthy, then back it up again.',
  egress_failed: 'Check the address, and that it can be reached from where Slipway runs.',
  forbidden: 'Ask an owner or admin of the workspace for a role that may, or to do it for you.',
  git_failed:
    'Try again. If it stays, clone the same address by hand: `git clone` says more about a damaged repository.',
  git_unavailable: 'Install git 2.37 or later on the machine of the service.',
  headers_too_large: 'Send fewer or shorter headers; large values belong into the body.',
  import_failed:
    'The evidence names the statement. Mend the file, or import it into a service of the version it was dumped from.',
  import_format_unknown: 'The guide to backups lists what each kind of service can import.',
  in_use: 'Wait until it has ended, or end it first.',
  internal_error:
    'Try again. If it stays, the request id or the operation finds the cause in the log of the service.',
  invalid_credentials: 'Check both, or ask for a new password with POST /auth/forgot-password.',
  invalid_input: 'A value cannot be used as it is; the sentence says which. Change it, then try again.',
  lockout_prevented:
    'Nobody is locked out. See why a new login fails with POST /servers/test-connection, then harden again.',
  method_not_allowed: 'The `Allow` header lists the methods of this path.',
  name_not_resolved: 'Check the spelling of the name, and that its DNS record is known where Slipway runs.',
  not_found:
    'Check the id, and that it belongs to the workspace that you are signed in to; it may have been deleted.',
  nothing_to_back_up: 'Add a service or a volume to the environment, and deploy it first.',
  oidc_state_invalid: 'Sign in again from the start, in one browser, within ten minutes.',
  oidc_untrusted: 'Sign in again. If it stays, whoever runs this instance finds the reason in the log.',
  payload_too_large: 'Send less at once.',
  provider_rejected: 'Save a token that may read the repository with POST /git-provider/save-token.',
  remote_failed:
    'The evidence has what the server said. Try again; if it stays, run the same on the server to see more.',
  remote_fenced: 'Nothing is to be done: another worker goes on with it.',
  remote_timeout: 'See whether the server is under load (`uptime`, `df -h`), then try again.',
  repository_too_large:
    'Leave large files out of the repository, or raise the limit: docs/guides/settings.md has it.',
  request_timeout: 'Send it again over a connection that is fast enough.',
  restore_failed:
    'The evidence has what the tool said. See whether the backup is of the same version as the service.',
  server_not_linked: 'Link one with PATCH /environments/:id/server.',
  shutting_down: 'Try again in a moment: another instance, or the next start, answers.',
  storage_failed: 'Back up again; if it stays, try the storage with the same keys from another program.',
  storage_full:
    'Make room there, keep fewer backups, or choose another destination with PATCH /environments/:id/backups/config.',
  system_unsupported: 'Debian 12 and 13 and Ubuntu 22.04, 24.04 and 26.04 are supported.',
  unsupported_media_type: 'Set the header `Content-Type: application/json`.',
  work_lost: 'Start it again; it is begun anew from what was there before.',
};

export interface FieldError {
  readonly path: string;
  readonly message: string;
}

/** What was seen where several things were looked at. */
export interface FaultFinding {
  readonly code: string;
  readonly severity: 'ok' | 'info' | 'warning' | 'error';
  readonly message: string;
  readonly hint: string | null;
  readonly evidence: string | null;
}

interface FaultOptions {
  /** What helps, said for this case; else what helps in general. */
  readonly hint?: string;
  readonly evidence?: string;
  readonly errors?: readonly FieldError[];
  readonly findings?: readonly FaultFinding[];
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

export class Fault extends Error {
  readonly code: FaultCode;
  readonly hint: string | undefined;
  readonly evidence: string | undefined;
  readonly errors: readonly FieldError[] | undefined;
  readonly findings: readonly FaultFinding[] | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: FaultCode, sentence: string, options: FaultOptions = {}) {
    super(sentence, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Fault';
    this.code = code;
    // Fields that say what would be right need no word beside them.
    this.hint = options.hint ?? (options.errors === undefined ? usualHints[code] : undefined);
    this.evidence = options.evidence === undefined ? undefined : bounded(options.evidence);
    this.errors = options.errors;
    this.findings = options.findings;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** Evidence is stored and shown with each fault, and whoever prints it decides how long it is. What failed comes last. */
const evidenceHead = 4_000;
const evidenceTail = 12_000;

function bounded(evidence: string): string {
  const left = evidence.length - evidenceHead - evidenceTail;
  if (left <= 0) return evidence;
  const note = `[Slipway: ${left} characters were left out here]`;
  return `${evidence.slice(0, evidenceHead)}\n${note}\n${evidence.slice(-evidenceTail)}`;
}

/** The `code` that Node and PostgreSQL put on their errors, where there is one. */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

export function errorText(error: unknown): string {
  // A name with several addresses fails once for each; the error that joins them has no message of its own.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(errorText).join(', ');
  if (error instanceof Error) return error.message;
  // Some libraries hand their errors on as plain objects.
  const { message } = Object(error);
  return typeof message === 'string' ? message : String(error);
}
