/** What goes over the wire about environments. */
import Type from 'typebox';
import { serviceKinds } from '../../analysis/result.ts';
import { closed, Id, nullable, Time } from '../../http/schemas.ts';

/** One line: a command is a line of a Dockerfile and of a log. */
const Command = Type.String({ maxLength: 2_000, pattern: '^[^\\x00-\\x08\\x0a-\\x1f\\x7f]*$' });
const PathInside = Type.String({
  maxLength: 500,
  pattern: '^(?!/)(?!.*(^|/)\\.\\.(/|$))[^\\x00-\\x1f\\x7f\\\\]*$',
});

export const BranchName = Type.String({
  minLength: 1,
  maxLength: 250,
  pattern: '^(?![-/.])(?!.*(\\.\\.|//|@\\{|\\.lock(/|$)))[^\\x00-\\x20\\x7f~^:?*\\[\\\\]+(?<![/.])$',
  examples: ['main'],
});

export const Settings = Type.Object(
  {
    installCommand: Type.Optional(nullable({ ...Command, examples: ['npm ci'] })),
    buildCommand: Type.Optional(nullable({ ...Command, examples: ['npm run build'] })),
    startCommand: Type.Optional(nullable({ ...Command, examples: ['node server.js'] })),
    releaseCommand: Type.Optional(nullable({ ...Command, examples: ['npx prisma migrate deploy'] })),
    staticOutput: Type.Optional(nullable({ ...PathInside, examples: ['dist'] })),
    port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535, examples: [3000] })),
    healthPath: Type.Optional(
      nullable(Type.String({ maxLength: 500, pattern: '^/[\\x21-\\x7e]*$', examples: ['/healthz'] })),
    ),
    dockerfilePath: Type.Optional(nullable({ ...PathInside, examples: ['Dockerfile'] })),
  },
  {
    ...closed,
    title: 'BuildSettings',
    description: 'What is absent is as the analysis found it; null is «none».',
  },
);

export const NewVariable = Type.Object(
  {
    key: Type.String({ maxLength: 200, pattern: '^[A-Za-z_][A-Za-z0-9_]*$', examples: ['API_KEY'] }),
    value: Type.String({ maxLength: 65_536, examples: ['s3cret'] }),
    secret: Type.Optional(Type.Boolean({ description: 'Never shown again; true if not said.' })),
    target: Type.Optional(
      Type.Enum(['build', 'runtime', 'both'], { description: 'When it is there; `both` if not said.' }),
    ),
  },
  { ...closed, title: 'NewVariable' },
);

export const Service = Type.Object(
  {
    kind: Type.Enum([...serviceKinds], { examples: ['postgres'] }),
    version: Type.Optional(
      Type.String({ maxLength: 20, pattern: '^[0-9]+(\\.[0-9]+){0,2}$', examples: ['17'] }),
    ),
    name: Type.Optional(Type.String({ maxLength: 40, pattern: '^[a-z][a-z0-9-]*$', examples: ['main'] })),
    storage: Type.Optional(
      Type.String({ maxLength: 20, pattern: '^[1-9][0-9]*(Mi|Gi)$', examples: ['10Gi'] }),
    ),
    memoryMb: Type.Optional(Type.Integer({ minimum: 64, maximum: 1_048_576, examples: [512] })),
  },
  { ...closed, title: 'Service' },
);

export const EnvironmentName = Type.String({
  minLength: 1,
  maxLength: 40,
  pattern: '^[^\\p{C}]*\\S[^\\p{C}]*$',
  description: 'Yours to choose; once in a project.',
  examples: ['production'],
});

export const EnvironmentAnswer = Type.Object(
  {
    id: Id,
    projectId: Id,
    name: Type.String({ examples: ['production'] }),
    slug: Type.String({ examples: ['shop-production-k3x9ta'] }),
    branch: Type.String({ examples: ['main'] }),
    serverId: nullable(Id),
    autoDeploy: Type.Boolean(),
    watchPaths: Type.Array(Type.String({ examples: ['apps/web'] })),
    settings: Type.Object({ appPath: Type.Optional(Type.String()), ...Settings.properties }),
    services: Type.Array(Service),
    status: Type.Enum(['idle', 'deploying', 'running', 'degraded', 'stopped']),
    createdAt: Time,
    updatedAt: Time,
  },
  { title: 'Environment' },
);
