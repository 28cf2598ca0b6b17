/** What goes over the wire in this area. */
import Type from 'typebox';
import { eventOf } from '../../events/event-kinds.ts';
import {
  closed,
  FaultAnswer,
  FaultCode,
  Id,
  idOf,
  matching,
  nullable,
  oneLine,
  Time,
} from '../../http/schemas.ts';
import type { OperationId, ServerId } from '../../ids.ts';
import { stepIds } from './hardening/plan.ts';

const Name = Type.String({
  minLength: 1,
  maxLength: 60,
  pattern: oneLine,
  description: 'Yours to choose; once in a workspace.',
  examples: ['web-1'],
});
const Host = Type.String({
  minLength: 1,
  maxLength: 253,
  pattern: matching(
    '^[A-Za-z0-9:]([A-Za-z0-9.:-]*[A-Za-z0-9:])?$',
    'must be a name such as `web-1.example.com` or an IP address such as `203.0.113.10` alone: no https://, no user, no port, no path',
  ),
  description: 'A name or an address, of the internet or of a network that the instance allows.',
  examples: ['203.0.113.10'],
});
const Port = Type.Integer({
  minimum: 1,
  maximum: 65_535,
  description: 'Of its SSH server; 22 if not said.',
  examples: [22],
});
const Username = Type.String({
  minLength: 1,
  maxLength: 32,
  pattern: matching(
    '^[a-z_][a-z0-9_-]*[$]?$',
    'must be a user name of the server in small letters, such as `root` or `deploy`',
  ),
  description: 'Who we log in as; `root` if not said. Anyone else needs sudo.',
  examples: ['root'],
});
const fingerprint = matching(
  '^SHA256:[A-Za-z0-9+/]{43}$',
  'must be the SHA-256 fingerprint of a host key as `ssh-keygen -lf` prints it: `SHA256:` and 43 characters, such as `SHA256:uNiVztksCsDhcc0u9e8BrrJXQVQzN2n4XLmbmkGQ8cY`',
);
const Fingerprint = Type.String({
  pattern: fingerprint,
  maxLength: 50,
  description:
    'Of the host key, as `ssh-keygen -lf` prints it. Without it, the key is pinned at first contact.',
  examples: ['SHA256:uNiVztksCsDhcc0u9e8BrrJXQVQzN2n4XLmbmkGQ8cY'],
});

const Auth = Type.Union(
  [
    Type.Object({ type: Type.Literal('generated') }, { ...closed, title: 'GeneratedKey' }),
    Type.Object(
      {
        type: Type.Literal('key'),
        privateKey: Type.String({
          minLength: 1,
          maxLength: 20_000,
          examples: ['-----BEGIN OPENSSH PRIVATE KEY-----\n…'],
        }),
        passphrase: Type.Optional(Type.String({ maxLength: 1000, examples: ['correct horse'] })),
      },
      { ...closed, title: 'GivenKey' },
    ),
    Type.Object(
      {
        type: Type.Literal('password'),
        password: Type.String({ minLength: 1, maxLength: 1000, examples: ['once only'] }),
      },
      { ...closed, title: 'PasswordOnce' },
    ),
  ],
  {
    description:
      '`generated`: we make a key, and you install its public half. `key`: we use yours. `password`: used once to install a key of ours, then forgotten.',
    examples: [{ type: 'generated' }],
  },
);

export const RegisterBody = Type.Object(
  {
    name: Name,
    host: Host,
    port: Type.Optional(Port),
    username: Type.Optional(Username),
    auth: Auth,
    hostKeyFingerprint: Type.Optional(Fingerprint),
  },
  { ...closed, title: 'NewServer' },
);

export const UpdateBody = Type.Object(
  {
    name: Type.Optional(Name),
    host: Type.Optional(Host),
    port: Type.Optional(Port),
    username: Type.Optional(Username),
    acceptHostKey: Type.Optional(
      Type.String({
        pattern: fingerprint,
        maxLength: 50,
        description:
          'Pins this host key instead of the one before. Compare it with the server’s own console first.',
        examples: ['SHA256:uNiVztksCsDhcc0u9e8BrrJXQVQzN2n4XLmbmkGQ8cY'],
      }),
    ),
  },
  { ...closed, title: 'ServerChange', minProperties: 1 },
);

const Facts = Type.Object(
  {
    os: Type.String({ examples: ['Debian GNU/Linux 13 (trixie)'] }),
    arch: Type.String({ examples: ['aarch64'] }),
    cpus: Type.Integer(),
    memoryMb: Type.Integer(),
    diskFreeMb: Type.Integer(),
    dockerVersion: nullable(Type.String({ examples: ['26.1.5'] })),
    kernel: Type.String({ examples: ['6.12.0'] }),
  },
  { title: 'ServerFacts' },
);

const SecuritySummary = Type.Object(
  {
    state: Type.Enum(['unknown', 'at_risk', 'fair', 'hardened']),
    score: nullable(Type.Integer({ minimum: 0, maximum: 100 })),
    checkedAt: nullable(Time),
  },
  { title: 'ServerSecuritySummary' },
);

export const ServerAnswer = Type.Object(
  {
    id: Id,
    name: Name,
    host: Type.String(),
    port: Type.Integer(),
    username: Type.String(),
    hostKeyFingerprint: nullable(Type.String({ description: 'The pinned one; null until first contact.' })),
    offeredHostKeyFingerprint: nullable(
      Type.String({
        description: 'What the server shows instead of the pinned one; set with `host_key_changed`.',
      }),
    ),
    publicKey: Type.String({ description: 'Ours, for the `authorized_keys` of the user.' }),
    status: Type.Enum(['pending', 'ready', 'unreachable', 'host_key_changed']),
    problem: nullable(FaultAnswer),
    facts: nullable(Facts),
    clusterId: nullable({ ...Id, description: 'Of the cluster that it is a member of.' }),
    security: SecuritySummary,
    provisionedAt: nullable(Time),
    lastSeenAt: nullable(Time),
    createdAt: Time,
    updatedAt: Time,
  },
  { title: 'Server' },
);

export const ServersAnswer = Type.Object(
  { items: Type.Array(ServerAnswer), nextCursor: nullable(Type.String()) },
  { title: 'ServerList' },
);

export const TestBody = Type.Union(
  [Type.Object({ serverId: idOf<ServerId>() }, { ...closed, title: 'SavedServer' }), RegisterBody],
  {
    description: 'A server of yours, or what you would register.',
    examples: [{ serverId: '01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b' }],
  },
);

const testSteps = [
  ...(['resolve', 'tcp', 'host_key', 'authenticate', 'privilege', 'system', 'docker'] as const),
  ...(['resources', 'clock'] as const),
] as const;
const TestStep = Type.Enum([...testSteps], { title: 'ConnectionTestStep' });

export const TestEvent = Type.Union(
  [
    eventOf('ConnectionTestStepEvent', 'step', 'A step is done.', {
      step: TestStep,
      status: Type.Enum(['passed', 'warning', 'failed']),
      message: Type.String({ description: 'What was seen, or what is wrong.' }),
      code: Type.Optional(Type.Unsafe<string>(FaultCode)),
      hint: Type.Optional(nullable(Type.String())),
      evidence: Type.Optional(nullable(Type.String())),
    }),
    eventOf('ConnectionTestResultEvent', 'result', 'Whether the server can be worked on.', {
      ok: Type.Boolean(),
      hostKeyFingerprint: nullable(Type.String({ description: 'What the server shows.' })),
      facts: nullable(Facts),
      fault: nullable(FaultAnswer),
    }),
    eventOf('ConnectionTestEndEvent', 'end', 'The last event.', {}),
  ],
  { title: 'ConnectionTestEvent' },
);

const SecurityCheck = Type.Object(
  {
    id: Type.String({ examples: ['ssh_password_login'] }),
    title: Type.String(),
    status: Type.Enum(['pass', 'warn', 'fail', 'unknown', 'not_applicable']),
    severity: Type.Enum(['low', 'medium', 'high', 'critical']),
    evidence: Type.String({ description: 'What decided it, in the server’s own words.' }),
    fix: Type.String({ description: 'What you can do about it.' }),
    lockoutRisk: Type.Boolean({ description: 'Whether the fix, done wrong, can shut you out.' }),
  },
  { title: 'SecurityCheck' },
);

export const SecurityAnswer = Type.Intersect(
  [SecuritySummary, Type.Object({ checks: Type.Array(SecurityCheck) })],
  { title: 'ServerSecurity' },
);

export const SecurityQuery = Type.Object(
  { refresh: Type.Optional(Type.Boolean({ description: 'Look again before answering.' })) },
  closed,
);

const StepId = Type.Enum([...stepIds], { title: 'HardeningStepId' });

export const HardenBody = Type.Object(
  {
    dryRun: Type.Optional(Type.Boolean({ description: 'Only show the plan.', examples: [true] })),
    steps: Type.Optional(
      Type.Array(StepId, {
        minItems: 1,
        maxItems: stepIds.length,
        uniqueItems: true,
        description: 'All, if not said.',
        examples: [['firewall']],
      }),
    ),
    allowPorts: Type.Optional(
      Type.Array(Type.Integer({ minimum: 1, maximum: 65_535 }), {
        maxItems: 50,
        uniqueItems: true,
        description: 'TCP ports that stay open beside SSH, 80 and 443.',
        examples: [[5432]],
      }),
    ),
    planFingerprint: Type.Optional(
      Type.String({
        maxLength: 200,
        description: 'Of a plan that was shown: any other is refused.',
        examples: ['3f2a…'],
      }),
    ),
  },
  { ...closed, title: 'HardenServer' },
);

const PlanStep = Type.Object(
  {
    id: StepId,
    title: Type.String(),
    why: Type.String(),
    lockoutRisk: Type.Boolean(),
    packages: Type.Array(Type.String()),
    files: Type.Array(
      Type.Object({
        path: Type.String(),
        mode: Type.String(),
        diff: Type.String({ description: 'Unified.' }),
      }),
    ),
    commands: Type.Array(Type.Array(Type.String())),
  },
  { title: 'HardeningStep' },
);

export const PlanAnswer = Type.Object(
  {
    fingerprint: Type.String(),
    system: Type.String(),
    steps: Type.Array(PlanStep),
    notes: Type.Array(Type.Object({ step: Type.String(), text: Type.String() })),
  },
  { title: 'HardeningPlan' },
);

export const UndoBody = Type.Object(
  {
    operationId: Type.Unsafe<OperationId>({
      type: 'string',
      format: 'uuid',
      description: 'The hardening to undo.',
      examples: ['01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b'],
    }),
  },
  { ...closed, title: 'UndoHardening' },
);
