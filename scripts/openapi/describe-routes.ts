/**
 * What the OpenAPI 3.1 document says of each route, and what is true for all of them (errors, security), written here
 * once. `finish-document.ts` finishes it.
 */
import { STATUS_CODES } from 'node:http';
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import type { FastifyContextConfig, FastifySchema } from 'fastify';
import Type from 'typebox';
import { type ApiFaultCode, apiFaultCodes, Fault } from '../../src/fault.ts';
import type { Access, Fresh } from '../../src/http/access.ts';
import { Problem, problemOf, problemType, statusOfCode } from '../../src/http/problem.ts';
import { keyFormat, matching } from '../../src/http/schemas.ts';

declare module 'fastify' {
  interface FastifySchema {
    /** What it takes of the caller's role, in the document. */
    'x-permission'?: string;
    /** How it concerns projects, for those who are limited to some; `none`: it is not for them. */
    'x-projects'?: string;
    /** Whether API tokens may call it. */
    'x-tokens'?: boolean;
    /** Whether a person must have proven who they are within ten minutes; or by field, the values that ask for it. */
    'x-fresh-proof'?: Fresh;
  }
}

const introduction = `The API behind «Heroku on my own servers».

Every error is a problem document (RFC 9457) with a \`code\` from a closed list. Lists are pages:
\`{items, nextCursor}\`. \`x-permission\` of an operation says what it takes of your role: a viewer may \`read\`, a member
\`deploy\` and \`change\` too, admins also \`manage\` and \`read_secrets\`, and owners \`own\`; \`x-projects\` says how it concerns
those who are limited to some projects. API tokens are sent like access tokens (\`x-tokens\`). \`x-fresh-proof\`: a person
must have given password or second factor within ten minutes, always or where a field of the body has one of the values. Unknown fields and query parameters are refused. Requests are limited per account, and
per address where there is none; \`RateLimit\` and \`RateLimit-Policy\` say how much is left. Every answer has an \`X-Request-Id\`.

Long work is answered with \`202\` and goes on as an operation. Streams are Server-Sent Events; the schema of a stream is that of
the JSON in the \`data\` of each event, one for each \`kind\`.`;

/** In the order in which someone meets them. */
const tags = [
  { name: 'Accounts', description: 'Registration, sign-in, sessions, password reset.' },
  {
    name: 'Second factors',
    description: 'Authenticator apps, passkeys, recovery codes, and the fresh proof.',
  },
  { name: 'Workspaces', description: 'What people share: members, roles, invitations.' },
  {
    name: 'API tokens',
    description: 'How a program signs in: with abilities, for one project, until a day.',
  },
  { name: 'Servers', description: 'Yours: connected, understood, made ready.' },
  { name: 'Clusters', description: 'Several servers as one Docker Swarm.' },
  { name: 'Git providers', description: 'Accounts at Git hosts: connected, searched.' },
  { name: 'Projects', description: 'Repositories, what they are, and how they run.' },
  { name: 'Environments', description: 'Where a branch runs, how, and with which variables.' },
  { name: 'Deployments', description: 'A commit on its way to being live: started, followed, rolled back.' },
  { name: 'Services', description: 'Databases and caches beside an app.' },
  { name: 'Domains', description: 'Names: proven to be yours, connected, with certificates.' },
  { name: 'Webhooks', description: 'Pushes: how they reach us, and what became of each.' },
  { name: 'Backups', description: 'Taken, tried out, restored; imports; schedules.' },
  { name: 'Notification connectors', description: 'Who is told what, and how.' },
  { name: 'Operations', description: 'Long work: seen, followed, cancelled.' },
  { name: 'Events', description: 'What happens, as it happens.' },
  { name: 'Audit', description: 'Who changed what.' },
  { name: 'Installation', description: 'What is of the whole, for those who look after it.' },
  { name: 'Monitoring', description: 'Whether the service is alive, ready, and how it does.' },
];

/** What requests may say in their headers: what each is for reads it by itself. */
const idempotencyHeaders = {
  'Idempotency-Key': Type.String({
    ...keyFormat,
    description:
      'Yours to make, new for each request. The same request with the same key within 24 hours is done once, and answered as the first time.',
    examples: ['9b2f1c0e-6a57-4f7e-8f4a-5d6c7b8a9e0f'],
  }),
};
const resumeHeaders = {
  'Last-Event-ID': Type.String({
    maxLength: 15,
    pattern: matching('^[0-9]+$', 'must be the id of an event, a whole number such as `42`'),
    description: 'Begin after the event with this id, as browsers ask when they come back.',
    examples: ['42'],
  }),
};
const workspaceHeaders = {
  'Slipway-Workspace': Type.String({
    format: 'uuid',
    description: 'The workspace to work in, where you are in several; your first one if not said.',
    examples: ['01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b'],
  }),
};

/** For `@fastify/swagger`, which only `npm run generate` and its test add to the service. */
export const openApiOptions: FastifyDynamicSwaggerOptions = {
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'Slipway',
      version: '1.0.0',
      summary: 'Deploys Git repositories to your own servers.',
      description: introduction,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This instance' }],
    tags,
    components: {
      securitySchemes: {
        accessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        monitorToken: { type: 'http', scheme: 'bearer' },
        streamTicket: { type: 'apiKey', in: 'query', name: 'ticket' },
      },
    },
  },
  transform: ({ schema, url, route }) => ({ schema: describeRoute(schema, route.config ?? {}), url }),
};

/** Adds what follows from a route's declarations: its security, and the errors every such route can answer. */
function describeRoute(schema: FastifySchema, config: FastifyContextConfig): FastifySchema {
  const { access, faults = [], signInLimit, idempotent, isFeed } = config;
  if (!schema || schema.hide || !access) return schema;
  const codes = new Set<ApiFaultCode>(['internal_error', 'database_unavailable', ...faults]);
  if (access.kind !== 'probe' && access.kind !== 'monitor') codes.add('rate_limited');
  if (schema.body || schema.querystring || schema.params) codes.add('invalid_input');
  if (schema.body) for (const code of bodyCodes) codes.add(code);
  // Workspaces that one is not in, and what is watched from elsewhere, are not there either.
  if (schema.params || access.kind === 'workspace' || access.kind === 'monitor') codes.add('not_found');
  if (!isOpen(access)) codes.add('unauthenticated');
  if (access.kind === 'workspace' || access.kind === 'operator') codes.add('forbidden');
  if ('fresh' in access && access.fresh) codes.add('fresh_proof_required');
  if (access.kind === 'workspace' && !access.withoutFactor) codes.add('second_factor_missing');
  if (access.kind === 'account' && !access.tokens) codes.add('forbidden');
  const limited = signInLimit
    ? ' Limited per address and network, and per e-mail; a device that has signed in before has a count of its own.'
    : '';
  const headers = {
    ...(access.kind === 'workspace' && !access.inPath && workspaceHeaders),
    ...(idempotent && idempotencyHeaders),
    ...(isFeed && resumeHeaders),
  };
  return {
    ...schema,
    description: `${schema.description ?? ''}${limited}`.trim(),
    headers: { type: 'object', properties: headers },
    security: securityOf(access),
    'x-permission': access.kind === 'workspace' ? access.permission : access.kind,
    ...limitsOf(access),
    ...('fresh' in access && access.fresh && { 'x-fresh-proof': access.fresh }),
    response: { ...successes(Object(schema.response)), ...errorResponses([...codes]) },
  };
}

function limitsOf(access: Access): Pick<FastifySchema, 'x-projects' | 'x-tokens'> {
  if (access.kind === 'account') return { 'x-tokens': access.tokens ?? false };
  if (access.kind !== 'workspace') return {};
  return { 'x-projects': access.reach ?? 'none', 'x-tokens': !access.person };
}

function isOpen(access: { kind: string }): boolean {
  return access.kind === 'public' || access.kind === 'probe';
}

const bodyCodes: readonly ApiFaultCode[] = ['bad_request', 'payload_too_large', 'unsupported_media_type'];

function securityOf(access: { kind: string; ticket?: boolean }): Record<string, string[]>[] {
  // Either nothing or the token: a setting decides.
  if (access.kind === 'monitor') return [{}, { monitorToken: [] }];
  if (isOpen(access)) return [];
  return access.ticket ? [{ accessToken: [] }, { streamTicket: [] }] : [{ accessToken: [] }];
}

/** What is said of an answer whose schema says nothing itself: its title, in words. */
function successes(declared: Readonly<Record<string, unknown>>): Record<string, object> {
  return Object.fromEntries(
    Object.entries(declared).map(([status, schema]) => {
      const { title, description } = Object(schema);
      if (description !== undefined || title === undefined) return [status, Object(schema)];
      const words = String(title)
        .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
        .toLowerCase();
      return [status, { ...Object(schema), 'x-response-description': `${STATUS_CODES[status]}: ${words}.` }];
    }),
  );
}

function errorResponses(codes: ApiFaultCode[]): Record<number, object> {
  const byStatus = Map.groupBy(codes.sort(), (code) => statusOfCode[code]);
  return Object.fromEntries([...byStatus].map(([status, list]) => [status, errorResponse(list)]));
}

function errorResponse(codes: readonly ApiFaultCode[]): object {
  const examples = Object.fromEntries(
    codes.map((code) => {
      const fault = new Fault(code, apiFaultCodes[code]);
      return [
        code,
        { value: problemOf(fault, { url: '/api/v1/…', id: '01990000-0000-7000-8000-000000000000' }) },
      ];
    }),
  );
  return {
    description: codes.map((code) => `\`${code}\`: ${apiFaultCodes[code]}`).join(' '),
    content: { [problemType]: { schema: Problem, examples } },
  };
}
