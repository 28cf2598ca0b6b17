/** One way out for everything that goes wrong in a request, the framework's own refusals included. */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { errorCode, Fault, type FaultCode } from '../fault.ts';
import { hiddenFault, type Problem, problemOf, problemType } from './problem.ts';
import { fieldErrors } from './validation.ts';

/** What is ours to mend. A server, a repository or a certificate authority that fails is the user's, whatever its status. */
const ours: ReadonlySet<FaultCode> = new Set([
  ...(['internal_error', 'undo_failed', 'worker_crashed'] as const),
  ...(['database_unavailable', 'git_unavailable', 'no_space'] as const),
]);

/** How a problem is shown where it is not as JSON. */
type Show = (problem: Problem) => unknown;

export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply, show?: Show): void {
  const fault = faultOf(error, request);
  // The database says itself in the log that it is away, once for all requests.
  if (ours.has(problemOf(fault, request).code) && fault.code !== 'database_unavailable')
    request.log.error({ requestId: request.id, err: error }, 'request failed');
  else if (problemOf(fault, request).status >= 500)
    request.log.info({ requestId: request.id, fault: fault.code, reason: fault.message }, 'request refused');
  sendFault(fault, request, reply, show);
}

/** The code that a request was refused with, once it was; and whether that is our own failure. */
export function refusalOf(
  reply: FastifyReply,
): { readonly code: FaultCode; readonly isOurs: boolean } | undefined {
  const code = refused.get(reply);
  return code && { code, isOurs: ours.has(code) };
}

const refused = new WeakMap<FastifyReply, FaultCode>();

export function sendFault(fault: Fault, request: FastifyRequest, reply: FastifyReply, show?: Show): void {
  const problem = problemOf(fault, request);
  refused.set(reply, problem.code);
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer realm="slipway"');
  if (fault.retryAfterSeconds !== undefined) reply.header('retry-after', fault.retryAfterSeconds);
  else if (problem.status === 503) reply.header('retry-after', 5);
  // As text: the route's own response schemas describe successes and must not shape this.
  reply.code(problem.status);
  if (show) show(problem);
  else reply.type(problemType).serializer(JSON.stringify).send(problem);
}

function faultOf(error: unknown, request: FastifyRequest): Fault {
  if (error instanceof Fault) return error;
  if (isFastifyError(error)) {
    if (error.validation) {
      const errors = fieldErrors(error.validation, error.validationContext ?? 'body');
      const list = errors.map(({ path, message }) => `${path} ${message}`.trim()).join('; ');
      return new Fault('invalid_input', `The request is not valid: ${list}.`, { errors });
    }
    return frameworkFault(error, request.routeOptions.bodyLimit);
  }
  return hiddenFault;
}

function frameworkFault(error: FastifyError, bodyLimit: number | undefined): Fault {
  switch (error.code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Fault('unsupported_media_type', 'The body must be sent as application/json.');
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return tooLarge(bodyLimit);
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return new Fault('bad_request', 'The body is not valid JSON.');
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return new Fault('bad_request', 'The body is empty, and JSON was announced.');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new Fault('bad_request', sentence(error.message));
    default:
      break;
  }
  // JSON.parse and the guard against `__proto__` throw these, with a status of 400 put on by the framework.
  if (error.statusCode === 400)
    return new Fault('bad_request', `The body is not valid JSON: ${sentence(error.message)}`);
  return hiddenFault;
}

function tooLarge(limit: number | undefined): Fault {
  const most =
    limit === undefined ? 'it may be' : `the ${limit.toLocaleString('en')} bytes that this operation takes`;
  return new Fault('payload_too_large', `The body is larger than ${most}.`);
}

function isFastifyError(error: unknown): error is FastifyError {
  return (
    error instanceof Error &&
    (errorCode(error) !== undefined || 'statusCode' in error || 'validation' in error)
  );
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
