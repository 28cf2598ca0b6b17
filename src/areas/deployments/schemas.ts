/** What goes over the wire about deployments. */
import Type from 'typebox';
import { DeploymentStatus } from '../../events/event-kinds.ts';
import { closed, FaultAnswer, Id, idOf, idParams, matching, nullable, Time } from '../../http/schemas.ts';
import type { DeploymentId, EnvironmentId } from '../../ids.ts';
import { BranchName } from '../environments/schemas.ts';

export const DeploymentParams = Type.Object(
  {
    ...idParams<EnvironmentId>().properties,
    did: { ...idOf<DeploymentId>(), description: 'Of the deployment.' },
  },
  closed,
);

const Sha = Type.String({
  pattern: matching(
    '^[0-9a-f]{40}$',
    'must be a whole commit id, 40 small hexadecimal digits, as `git rev-parse HEAD` prints it; a short one may mean several commits',
  ),
  maxLength: 40,
  description: 'A whole commit id: 40 small hexadecimal digits.',
  examples: ['9f2c1d0b7a6e5f4c3b2a19087f6e5d4c3b2a1908'],
});

export const DeployBody = Type.Object(
  {
    commit: Type.Optional(Sha),
    branch: Type.Optional({
      ...BranchName,
      description: 'Its newest commit; the environment keeps its own branch.',
    }),
  },
  {
    ...closed,
    title: 'DeployRequest',
    description: 'Nothing: the newest commit of the environment’s branch.',
    examples: [{ branch: 'main' }],
  },
);

export const UploadQuery = Type.Object(
  {
    message: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description: 'What the deployment is shown with, in place of the message of a commit.',
        examples: ['Try the new prices'],
      }),
    ),
  },
  closed,
);

export const UploadBody = Type.String({
  format: 'binary',
  description:
    'A tar file of the working tree, as `tar cz .` writes it in the root of the repository; compressed by gzip or not, which its content tells.',
});

export const RollbackBody = Type.Object(
  {
    variables: Type.Optional(
      Type.Enum(['then', 'now'], {
        description: 'The variables that the release was made with, or those of today; `then` if not said.',
        examples: ['then'],
      }),
    ),
  },
  { ...closed, title: 'RollbackRequest' },
);

const DeploymentSummary = Type.Object(
  {
    id: Id,
    environmentId: Id,
    number: Type.Integer({ description: 'Counted in the environment, from 1.', examples: [12] }),
    trigger: Type.Enum(['manual', 'push', 'finalize', 'rollback', 'retry', 'move']),
    source: Type.Enum(['repository', 'upload'], {
      description:
        'Where its files are from: the repository of the project, or a working tree that was uploaded.',
      examples: ['repository'],
    }),
    commit: Type.Object({
      sha: nullable(Type.String({ examples: ['9f2c1d0b7a6e5f4c3b2a19087f6e5d4c3b2a1908'] })),
      message: nullable(Type.String({ examples: ['Show prices with tax'] })),
      author: nullable(Type.String({ examples: ['Ada Lovelace'] })),
      branch: nullable(Type.String({ examples: ['main'] })),
    }),
    status: DeploymentStatus,
    step: nullable(Type.String({ description: 'What it does at this moment.', examples: ['build'] })),
    steps: Type.Array(
      Type.Object({
        name: Type.String({ examples: ['build'] }),
        status: Type.Enum(['running', 'done', 'failed', 'cancelled']),
        startedAt: Time,
        finishedAt: nullable(Time),
      }),
    ),
    fault: nullable(FaultAnswer),
    imageDigest: nullable(Type.String({ examples: ['sha256:4f5e…'] })),
    rollbackOf: nullable(Id),
    supersededBy: nullable(Id),
    operationId: nullable(Id),
    serverId: Id,
    requestedBy: nullable(Id),
    queuedAt: Time,
    startedAt: nullable(Time),
    finishedAt: nullable(Time),
    durationMs: nullable(Type.Integer({ examples: [18_250] })),
  },
  { title: 'DeploymentSummary' },
);

export const DeploymentAnswer = Type.Intersect(
  [
    DeploymentSummary,
    Type.Object({
      plan: nullable(
        Type.Record(Type.String(), Type.Unknown(), {
          description:
            'What was made of the repository: the app, how it is built (with the Dockerfile), how it runs.',
        }),
      ),
      probes: Type.Array(
        Type.Object({
          container: Type.String(),
          atMs: Type.Integer(),
          outcome: Type.String({ examples: ['ok'] }),
          status: nullable(Type.Integer()),
          location: nullable(Type.String()),
          body: Type.String(),
          problem: nullable(Type.String()),
          repeated: Type.Integer({ description: 'How many like it came right after.' }),
        }),
        {
          description:
            'The health checks with their answers; equal ones in a row are one, and of very many the middle is left out.',
        },
      ),
    }),
  ],
  { title: 'Deployment' },
);

export const DeploymentsAnswer = Type.Object(
  {
    items: Type.Array(DeploymentSummary),
    nextCursor: nullable(Type.String()),
  },
  { title: 'DeploymentList' },
);

export const LogsQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000, description: 'How many; 500 if not said.' }),
    ),
    cursor: Type.Optional(
      Type.String({
        pattern: matching('^[0-9]{1,15}$', 'must be the `nextCursor` of the page before, such as `500`'),
        maxLength: 15,
        description: '`nextCursor` of the page before.',
        examples: ['500'],
      }),
    ),
  },
  closed,
);

export const LogsAnswer = Type.Object(
  {
    items: Type.Array(
      Type.Object({
        position: Type.Integer(),
        at: Time,
        step: Type.String({ examples: ['build'] }),
        line: Type.String({ examples: ['#8 [build 4/5] RUN npm run build'] }),
      }),
    ),
    nextCursor: nullable(Type.String()),
  },
  { title: 'DeploymentLogs' },
);
