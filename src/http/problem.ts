/** How a fault looks over the wire: RFC 9457 problem details, with the status that each code stands for. */
import { STATUS_CODES } from 'node:http';
import Type from 'typebox';
import { type ApiFaultCode, apiFaultCodes, Fault } from '../fault.ts';

export const problemType = 'application/problem+json';

export const statusOfCode = {
  acme_nonsense: 502,
  acme_rate_limited: 503,
  acme_refused: 422,
  acme_unreachable: 502,
  already_finalized: 409,
  already_finished: 409,
  analysis_running: 409,
  analysis_stopped: 422,
  app_bound_to_localhost: 422,
  app_crash_loop: 422,
  app_crashed: 422,
  app_not_found: 422,
  app_not_http: 422,
  app_not_listening: 422,
  app_out_of_memory: 422,
  app_redirects: 422,
  app_unhealthy: 422,
  app_wrong_port: 422,
  bad_request: 400,
  backup_damaged: 422,
  backup_incompatible: 409,
  backup_key_mismatch: 422,
  backup_last_good: 409,
  backup_missing: 409,
  backup_not_equal: 422,
  backup_unfinished: 409,
  build_failed: 422,
  build_lost: 502,
  build_out_of_memory: 422,
  cancelled: 409,
  certificate_invalid: 422,
  challenge_failed: 422,
  changed_since: 409,
  clock_wrong: 422,
  commit_not_found: 422,
  database_down: 502,
  database_unavailable: 503,
  deadline_exceeded: 504,
  disk_full: 422,
  dns_wrong: 422,
  docker_failed: 502,
  docker_missing: 422,
  docker_too_old: 422,
  domain_not_verified: 422,
  domain_taken: 409,
  dump_failed: 502,
  egress_failed: 502,
  egress_refused: 422,
  email_not_verified: 403,
  forbidden: 403,
  git_failed: 502,
  git_unavailable: 503,
  headers_too_large: 431,
  host_key_changed: 409,
  host_key_mismatch: 422,
  idempotency_in_progress: 409,
  idempotency_mismatch: 422,
  import_failed: 422,
  import_format_unknown: 422,
  in_use: 409,
  internal_error: 500,
  invalid_consent_token: 401,
  invalid_credentials: 401,
  invalid_input: 400,
  invalid_otp: 401,
  invalid_refresh_token: 401,
  invalid_reset_token: 401,
  lockout_prevented: 409,
  login_refused: 422,
  method_not_allowed: 405,
  mirrors_full: 422,
  name_not_resolved: 422,
  name_taken: 409,
  no_space: 507,
  not_found: 404,
  nothing_to_back_up: 409,
  nothing_to_roll_back: 409,
  nothing_to_start: 409,
  payload_too_large: 413,
  port_filtered: 422,
  port_refused: 422,
  project_not_ready: 409,
  provider_failed: 502,
  provider_rate_limited: 503,
  provider_rejected: 422,
  provider_scopes_missing: 422,
  provider_unreachable: 502,
  proxy_check_failed: 502,
  proxy_down: 502,
  proxy_failed: 502,
  rate_limited: 429,
  registration_closed: 403,
  release_command_failed: 422,
  remote_failed: 502,
  remote_fenced: 409,
  remote_timeout: 504,
  remote_unreachable: 502,
  repository_not_found: 404,
  repository_too_large: 422,
  removal_unconfirmed: 409,
  request_timeout: 408,
  restore_failed: 502,
  server_busy: 409,
  server_full: 409,
  server_not_linked: 409,
  server_not_ready: 409,
  server_taken: 409,
  services_hold_data: 409,
  service_data_elsewhere: 409,
  service_unhealthy: 422,
  service_version_refused: 409,
  shutting_down: 503,
  signature_invalid: 401,
  ssh_algorithms_weak: 422,
  storage_failed: 502,
  storage_full: 502,
  storage_refused: 422,
  storage_unreachable: 502,
  sudo_refused: 422,
  system_unsupported: 422,
  unauthenticated: 401,
  undo_failed: 500,
  unsupported_media_type: 415,
  work_lost: 502,
  worker_crashed: 500,
} as const satisfies Record<ApiFaultCode, number>;

const codes = Object.keys(apiFaultCodes).filter(isApiFaultCode);

export const Finding = Type.Object(
  {
    code: Type.String({ examples: ['record_missing'] }),
    severity: Type.Enum(['ok', 'info', 'warning', 'error']),
    message: Type.String({ description: 'What was seen, as a sentence.' }),
    hint: Type.Union([Type.String({ description: 'What would help.' }), Type.Null()]),
    evidence: Type.Union([Type.String(), Type.Null()]),
  },
  { title: 'DomainFinding' },
);

export const Problem = Type.Object(
  {
    type: Type.String({ description: 'Names the kind of problem; the code as a URN.' }),
    title: Type.String({ description: 'The status in words.' }),
    status: Type.Integer(),
    detail: Type.String({ description: 'What happened, as a sentence for a person.' }),
    instance: Type.String({ description: 'The path that was asked for.' }),
    code: Type.Enum(codes, {
      description: `What happened, for programs. One of:\n${codes.map((code) => `- \`${code}\`: ${apiFaultCodes[code]}`).join('\n')}`,
    }),
    requestId: Type.String({
      description: 'Finds the request in the log; also in the header `X-Request-Id`.',
    }),
    hint: Type.Optional(Type.String({ description: 'What would help.' })),
    errors: Type.Optional(
      Type.Array(Type.Object({ path: Type.String(), message: Type.String() }), {
        description: 'For invalid input: each wrong field, and what would be right.',
      }),
    ),
    findings: Type.Optional(
      Type.Array(Finding, { description: 'For `dns_wrong`: all that was seen in DNS.' }),
    ),
  },
  { title: 'Problem', description: 'Every error of the API has this shape (RFC 9457).' },
);
export type Problem = Type.Static<typeof Problem>;

function isApiFaultCode(code: string): code is ApiFaultCode {
  return Object.hasOwn(apiFaultCodes, code);
}

/** What an unexpected failure says to the caller: nothing of the inside. */
export const hiddenFault = new Fault('internal_error', 'Something failed on our side.', {
  hint: 'Try again. If it stays, the request id finds the cause in the log.',
});

export function problemOf(fault: Fault, request: { readonly url: string; readonly id: string }): Problem {
  if (!isApiFaultCode(fault.code)) return problemOf(hiddenFault, request);
  const { code } = fault;
  const status = statusOfCode[code];
  return {
    type: `urn:slipway:problem:${code}`,
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail: fault.message,
    instance: request.url.split('?', 1)[0] ?? request.url,
    code,
    requestId: request.id,
    ...(fault.hint === undefined ? {} : { hint: fault.hint }),
    ...(fault.errors === undefined ? {} : { errors: [...fault.errors] }),
    ...(fault.findings === undefined ? {} : { findings: [...fault.findings] }),
  };
}
