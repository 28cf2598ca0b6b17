/**
 * The front door: Fastify with our rules. Owns how requests are read, checked, counted, answered and logged;
 * knows no rule of any area. Refuses a route that does not declare who may call it.
 */
import Fastify, {
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Config } from '../config.ts';
import { type ApiFaultCode, Fault } from '../fault.ts';
import type { Principal } from '../principal.ts';
import type { Access, AccessControl } from './access.ts';
import { bodyLimitOf, noBodyLimit, refuseEndless } from './body-size.ts';
import { refusalOf, sendError, sendFault } from './errors.ts';
import type { Limits, OwnLimit, SignInLimit } from './limits.ts';
import type { Metrics } from './metrics.ts';
import { AllowedMethods, answerBrokenRequest, requestIdOf } from './requests.ts';
import type { Scope } from './scope.ts';
import { isTunnel, takeTunnels } from './tunnels.ts';
import { serializer, validator } from './validation.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may call the route. Required: a route without it does not start. */
    access?: Access;
    /** Counts the call against the limits of what can be guessed, or of what sends mails. */
    signInLimit?: SignInLimit;
    /** Counts the call against a limit of its own, per account. */
    limit?: OwnLimit;
    /** Takes an `Idempotency-Key`. */
    idempotent?: boolean;
    /** For the document: error codes of this operation beside those that its declarations imply. */
    faults?: readonly ApiFaultCode[];
    /** For the document: a feed of the event log, which takes a `Last-Event-ID`. */
    isFeed?: boolean;
    /** Its body is bytes, and none of our schemas'. */
    rawBody?: boolean;
  }
  interface FastifyRequest {
    principal: Principal | undefined;
    scope: Scope | undefined;
  }
}

export const apiPrefix = '/api/v1';

export interface ServerContext {
  readonly config: Config;
  readonly log: FastifyBaseLogger;
  readonly accessControl: AccessControl;
  readonly limits: Limits;
  readonly metrics: Metrics;
  /** Answers what nothing else does, where it takes it. */
  readonly otherwise?: {
    takes(request: FastifyRequest): boolean;
    answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
  };
}

export type HttpServer = Awaited<ReturnType<typeof createServer>>;

export async function createServer(context: ServerContext) {
  const { config, log, accessControl, limits, metrics, otherwise } = context;
  const headers = answerHeaders(config);
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    // One line a request, written below. A logger of its own for each request costs more than the line.
    childLoggerFactory: (logger) => logger,
    genReqId: requestIdOf,
    trustProxy: config.trustedProxies.length > 0 ? [...config.trustedProxies] : false,
    // Of calls that take no body; the others' follows from their schemas.
    bodyLimit: noBodyLimit,
    // Slow senders: the whole request within half a minute, a connection without one for little more than a minute.
    requestTimeout: 30_000,
    http: { shouldUpgradeCallback: isTunnel },
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: 256, ignoreTrailingSlash: false },
    clientErrorHandler: answerBrokenRequest,
    // Hooks do not run for these, so the headers of every answer are set here too.
    frameworkErrors: (error, request, reply) => {
      reply.headers(headers).header('x-request-id', request.id);
      sendError(error, request, reply);
    },
  });

  app.setValidatorCompiler(({ schema, httpPart }) => validator(httpPart, schema as object));
  app.setSerializerCompiler(({ schema }) => serializer(Object(schema)));
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined);
    else parseJson(request, body.toString(), done);
  });
  app.removeContentTypeParser('text/plain');

  app.decorateRequest('principal', undefined);
  app.decorateRequest('scope', undefined);
  // Before our own hooks: a refusal must carry its headers too, and its `OPTIONS *` declares no access.
  if (config.corsOrigins.length > 0) {
    const exposedHeaders = ['RateLimit', 'RateLimit-Policy', 'Retry-After', 'Location', 'X-Request-Id'];
    await app.register(import('@fastify/cors'), {
      origin: [...config.corsOrigins],
      credentials: true,
      exposedHeaders,
      methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
      strictPreflight: false,
      maxAge: 600,
    });
  }
  const allowed = new AllowedMethods();
  app.addHook('onRoute', (route) => {
    if (!route.config?.access)
      throw new Error(`${route.method} ${route.url} does not declare who may call it`);
    allowed.add(route.method, route.url);
    // Only where they are needed: a hook costs every request that passes it.
    const isApi = route.url.startsWith(apiPrefix);
    const isRead = [route.method].flat().every((method) => method === 'GET' || method === 'HEAD');
    const { rawBody, limit, signInLimit } = route.config;
    if (route.schema?.body) {
      if (!rawBody) route.bodyLimit ??= bodyLimitOf(route.schema.body);
      route.preValidation = [emptyBodyIsObject, route.preValidation ?? []].flat();
    } else if (isApi && !isRead && !rawBody)
      route.preValidation = [refuseBody, route.preValidation ?? []].flat();
    if (isApi) route.schema = { querystring: noQuery, ...route.schema };
    for (const part of ['querystring', 'params'] as const)
      if (route.schema?.[part]) refuseEndless(route.schema[part], part);
    // All that is known before the body has come is counted before it is read.
    if (limit) {
      const count = (request: FastifyRequest, reply: FastifyReply) => limits.countOwn(request, reply, limit);
      route.onRequest = [route.onRequest ?? [], count].flat();
    }
    const { access } = route.config;
    if ('fresh' in access && typeof access.fresh === 'object') {
      const { fresh } = access;
      const known = Object.keys(Object(route.schema?.body).properties ?? {});
      const missing = Object.keys(fresh).find((field) => !known.includes(field));
      if (missing !== undefined)
        throw new Error(
          `${route.url} asks for a fresh proof by \`${missing}\`, which its body does not have`,
        );
      const check = async (request: FastifyRequest) => accessControl.checkFresh(request, fresh);
      route.preHandler = [check, route.preHandler ?? []].flat();
    }
    if (access.kind === 'workspace' && access.reach && route.schema?.body) {
      const check = (request: FastifyRequest) => accessControl.checkBody(request);
      route.preHandler = [check, route.preHandler ?? []].flat();
    }
    if (signInLimit) {
      const arrive = (request: FastifyRequest, reply: FastifyReply) => limits.countArrival(request, reply);
      route.onRequest = [route.onRequest ?? [], arrive].flat();
      const count = (request: FastifyRequest, reply: FastifyReply) =>
        limits.countSignIn(request, reply, signInLimit);
      route.preHandler = [count, route.preHandler ?? []].flat();
    }
  });

  const nothingHere = (request: FastifyRequest, reply: FastifyReply): Fault => {
    const methods = allowed.of(request.url);
    if (methods.length === 0) return new Fault('not_found', 'There is nothing at this path.');
    reply.header('allow', methods.join(', '));
    const sentence = `This path does not take ${request.method}, only ${methods.join(', ')}.`;
    return new Fault('method_not_allowed', sentence);
  };
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(headers).header('x-request-id', request.id);
    await accessControl.check(request, reply);
    if (!request.is404) return;
    if (otherwise?.takes(request)) return otherwise.answer(request, reply);
    // What leads nowhere is answered before its body is read.
    throw nothingHere(request, reply);
  });
  // Nothing in this line can be a secret, so nobody searches it for one.
  const requestLog = log.child({}, { redact: [] });
  app.addHook('onResponse', (request, reply, done) => {
    const { method, routeOptions, id: requestId, ip, principal } = request;
    const { statusCode: status, elapsedTime } = reply;
    metrics.count(method, routeOptions.url, status, elapsedTime);
    const refusal = refusalOf(reply);
    if (refusal?.isOurs) metrics.countFailure();
    // Those who watch ask every few seconds, and only what they do not like is news.
    const { access } = routeOptions.config;
    const isWatching = access?.kind === 'probe' || access?.kind === 'monitor';
    if (isWatching && status < 400) return done();
    const ms = Math.round(elapsedTime);
    const accountId = principal?.accountId;
    const code = refusal?.code;
    requestLog.info(
      { requestId, method, route: routeOptions.url, status, code, ms, ip, accountId },
      'request',
    );
    done();
  });

  takeTunnels({ server: app.server, routing: (request, response) => app.routing(request, response) });
  app.setErrorHandler(sendError);
  app.setNotFoundHandler((request, reply) => sendFault(nothingHere(request, reply), request, reply));
  return app;
}

const noQuery = { type: 'object', properties: {}, additionalProperties: false };

/** What takes no body takes no field: an empty object is as good as nothing. */
function refuseBody({ body }: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void {
  const isEmpty =
    body === undefined || (typeof body === 'object' && body !== null && Object.keys(body).length === 0);
  const errors = [{ path: 'body', message: 'must be absent: this call takes none' }];
  done(isEmpty ? undefined : new Fault('invalid_input', 'This call takes no body.', { errors }));
}

/** No body at all reads as an empty one: the answer then names the fields that are missing. */
function emptyBodyIsObject(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  if (request.body === undefined) request.body = {};
  done();
}

function answerHeaders(config: Config): Record<string, string> {
  const secure = config.publicUrl?.startsWith('https:') ?? false;
  return {
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    ...(secure ? { 'strict-transport-security': 'max-age=31536000' } : {}),
  };
}
