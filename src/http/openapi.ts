/**
 * The OpenAPI 3.1 document, made from the routes. What is true for all routes (errors, security) is written
 * here once; titles of schemas become the names of its components.
 */
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import type { FastifyContextConfig, FastifySchema } from 'fastify';
import { type ApiFaultCode, apiFaultCodes, Fault } from '../fault.ts';
import type { Access } from './access.ts';
import { Problem, problemOf, problemType, statusOfCode } from './problem.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Error codes of this operation beside those that its declarations imply. */
    faults?: readonly ApiFaultCode[];
  }
  interface FastifySchema {
    /** What it takes of the caller's role, in the document. */
    'x-permission'?: string;
    /** How it concerns projects, for those who are limited to some; `none`: it is not for them. */
    'x-projects'?: string;
    /** Whether API tokens may call it. */
    'x-tokens'?: boolean;
  }
}

const introduction = `The API behind «Heroku on my own servers».

Every error is a problem document (RFC 9457) with a \`code\` from a closed list. Lists are pages:
\`{items, nextCursor}\`. \`x-permission\` of an operation says what it takes of your role: a viewer may \`read\`, a member
\`deploy\` and \`change\` too, admins also \`manage\` and \`read_secrets\`, and owners \`own\`. API tokens are sent like access
tokens, and have the permissions that they were made with. Unknown fields and query parameters are refused. Requests are limited per account, and
per address where there is none; \`RateLimit\` and \`RateLimit-Policy\` say how much is left.`;

/** For `@fastify/swagger`; the document is only made when someone asks for it. */
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
    tags: [
      { name: 'Accounts', description: 'Registration, sign-in, sessions, password reset.' },
      {
        name: 'API tokens',
        description: 'How a program signs in: with abilities, for one project, until a day.',
      },
      { name: 'Audit', description: 'Who changed what.' },
      { name: 'Backups', description: 'Taken, tried out, restored; imports; schedules.' },
      { name: 'Events', description: 'What happens, as it happens.' },
      { name: 'Environments', description: 'Where a branch runs, how, and with which variables.' },
      { name: 'Git providers', description: 'Accounts at Git hosts: connected, searched.' },
      { name: 'Installation', description: 'What is of the whole, for those who look after it.' },
      { name: 'Operations', description: 'Long work: seen, followed, cancelled.' },
      { name: 'Projects', description: 'Repositories, what they are, and how they run.' },
      { name: 'Servers', description: 'Yours: connected, understood, made ready.' },
      { name: 'Service', description: 'Whether the service is alive, ready, and how it does.' },
      { name: 'Workspaces', description: 'What people share: members, roles, invitations.' },
      { name: 'Webhooks', description: 'Pushes: how they reach us, and what became of each.' },
    ],
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
  const { access, faults = [], signInLimit } = config;
  if (!schema || schema.hide || !access) return schema;
  const codes = new Set<ApiFaultCode>(['internal_error', 'database_unavailable', ...faults]);
  if (access.kind !== 'probe' && access.kind !== 'monitor') codes.add('rate_limited');
  if (schema.body || schema.querystring || schema.params) codes.add('invalid_input');
  if (schema.body) for (const code of bodyCodes) codes.add(code);
  if (schema.params) codes.add('not_found');
  if (!isOpen(access)) codes.add('unauthenticated');
  if (access.kind === 'workspace' || access.kind === 'operator') codes.add('forbidden');
  if (access.kind === 'workspace' && access.fresh) codes.add('fresh_proof_required');
  if (access.kind === 'workspace' && access.permission !== 'read') codes.add('workspace_closing');
  if (access.kind === 'account' && !access.tokens) codes.add('forbidden');
  const limited = signInLimit
    ? ' Limited per address and network, and per e-mail; a device that has signed in before has a count of its own.'
    : '';
  return {
    ...schema,
    description: `${schema.description ?? ''}${limited}`.trim(),
    security: securityOf(access),
    'x-permission': access.kind === 'workspace' ? access.permission : access.kind,
    ...limitsOf(access),
    response: { ...Object(schema.response), ...errorResponses([...codes]) },
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

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** The finished document: each schema with a title stands once under `components` and is referred to. */
export function openApiDocument(app: { swagger(): unknown }): { [key: string]: Json } {
  const document: Json = JSON.parse(JSON.stringify(app.swagger()));
  if (!isObject(document)) throw new TypeError('the OpenAPI document is not an object');
  const schemas = new Map<string, Json>();
  const hoisted = hoist(document, schemas);
  if (!isObject(hoisted)) throw new TypeError('the OpenAPI document is not an object');
  const components = isObject(hoisted.components) ? hoisted.components : {};
  const sorted = Object.fromEntries([...schemas].sort(([one], [other]) => one.localeCompare(other)));
  return { ...hoisted, components: { ...components, schemas: sorted } };
}

function hoist(value: Json, schemas: Map<string, Json>, key = ''): Json {
  if (Array.isArray(value)) return value.map((each) => hoist(each, schemas));
  if (!isObject(value)) return value;
  const inner = Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      name === 'examples' ? each : hoist(each, schemas, name),
    ]),
  );
  const { title } = value;
  if (typeof title !== 'string' || key === 'info' || !('type' in value || 'anyOf' in value)) return inner;
  const known = schemas.get(title);
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(inner)) {
    throw new Error(`two different schemas have the title ${title}`);
  }
  schemas.set(title, inner);
  return { $ref: `#/components/schemas/${title}` };
}

function isObject(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
