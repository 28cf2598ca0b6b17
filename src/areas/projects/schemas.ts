/** What goes over the wire about projects. */
import Type from 'typebox';
import { AnalysisStatus } from '../../events/event-kinds.ts';
import { closed, FaultAnswer, Id, idOf, matching, nullable, oneLine, Time } from '../../http/schemas.ts';
import type { GitProviderId, ServerId } from '../../ids.ts';
import { DeploymentAnswer } from '../deployments/schemas.ts';
import { BranchName, EnvironmentAnswer, EnvironmentName, Placement } from '../environments/schemas.ts';
import { Settings } from '../environments/settings-schemas.ts';
import { NewVariable } from '../environments/variables/schemas.ts';
import { WantedService } from '../services/schemas.ts';
import { AnalysisResult } from './analysis-schemas.ts';

const Name = Type.String({
  minLength: 1,
  maxLength: 60,
  pattern: oneLine,
  description: 'Yours to choose; once in a workspace.',
  examples: ['shop'],
});
const FullName = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: matching(
    '^[^\\p{C}\\s?#\\\\]+$',
    'must be `owner/name`, such as `ada/shop` (in a path `ada%2Fshop`), or the provider’s numeric id',
  ),
  description: '`owner/name`, or the provider’s numeric id.',
  examples: ['ada/shop'],
});
const Url = Type.String({
  minLength: 1,
  maxLength: 2_000,
  description:
    'Of a public repository over https, or of any over ssh: then add the `deployKey` of the answer to it.',
  examples: ['https://github.com/ada/shop.git'],
});
const RootDirectory = Type.String({
  maxLength: 500,
  pattern: matching('^[^\\x00-\\x1f\\x7f]*$', 'must be a folder of the repository, such as `apps/web`'),
  description: 'The folder to look at; the root of the repository if not said.',
  examples: ['apps/web'],
});

const RepositoryReference = Type.Union(
  [
    Type.Object(
      { providerId: idOf<GitProviderId>(), fullName: FullName },
      { ...closed, title: 'ProviderRepository' },
    ),
    Type.Object({ url: Url }, { ...closed, title: 'UrlRepository' }),
  ],
  { examples: [{ url: 'https://github.com/ada/shop.git' }] },
);

export const CreateBody = Type.Object(
  {
    name: Name,
    repository: RepositoryReference,
    branch: Type.Optional(BranchName),
    rootDirectory: Type.Optional(RootDirectory),
  },
  { ...closed, title: 'NewProject' },
);

export const UpdateBody = Type.Object(
  {
    name: Type.Optional(Name),
    branch: Type.Optional(nullable({ ...BranchName, description: 'Null follows the default branch.' })),
    rootDirectory: Type.Optional(RootDirectory),
  },
  { ...closed, title: 'ProjectChange', minProperties: 1 },
);

export const FinalizeBody = Type.Object(
  {
    app: Type.Optional(
      Type.String({
        maxLength: 500,
        description: 'The `path` of one of the apps found.',
        examples: ['apps/web'],
      }),
    ),
    settings: Type.Optional(Settings),
    environment: Type.Object(
      {
        name: EnvironmentName,
        branch: Type.Optional(BranchName),
        serverId: Type.Optional(idOf<ServerId>()),
        placement: Type.Optional(Placement),
        variables: Type.Optional(Type.Array(NewVariable, { maxItems: 500 })),
        services: Type.Optional(
          Type.Array(WantedService, {
            maxItems: 10,
            description: 'The wanted whole; those that the analysis calls needed, if not said.',
          }),
        ),
      },
      { ...closed, title: 'FirstEnvironment' },
    ),
    deploy: Type.Optional(
      Type.Boolean({ description: 'Deploys it at once; it needs a place then. No, if not said.' }),
    ),
  },
  {
    ...closed,
    title: 'Finalization',
    examples: [
      {
        settings: { port: 8080 },
        environment: { name: 'production', variables: [{ key: 'API_KEY', value: 's3cret' }] },
      },
    ],
  },
);

export const AnalyzeQuery = Type.Object(
  {
    providerId: Type.Optional(idOf<GitProviderId>()),
    repo: Type.Optional(FullName),
    url: Type.Optional(Url),
    branch: Type.Optional(BranchName),
    rootDirectory: Type.Optional(RootDirectory),
  },
  closed,
);

const Commit = Type.Object(
  {
    sha: Type.String({ examples: ['7fd1a60b01f91b314f59955a4e4d4e80d8edf11d'] }),
    message: Type.String({ examples: ['Sell shoes'] }),
    author: Type.String({ examples: ['Ada Lovelace'] }),
    authoredAt: Time,
    branch: Type.String({ examples: ['main'] }),
  },
  { title: 'AnalysedCommit' },
);

export const DockerfileQuery = Type.Object(
  {
    app: Type.Optional(
      Type.String({ maxLength: 500, description: 'The `path` of the app; needed where there are several.' }),
    ),
  },
  closed,
);

export const DockerfileAnswer = Type.Object(
  {
    app: Type.String({ examples: ['.'] }),
    isGenerated: Type.Boolean({ description: 'False where the repository has its own.' }),
    dockerfile: Type.String({ examples: ['FROM node:24-slim AS dependencies\n…'] }),
    dockerignore: nullable(Type.String({ description: 'To go with a generated one.' })),
    explanation: Type.Array(Type.Object({ stage: Type.String(), line: Type.Integer(), why: Type.String() }), {
      description: 'Why each part is as it is.',
    }),
  },
  { title: 'ProjectDockerfile' },
);

export const AnalyzeAnswer = Type.Object(
  { commit: Commit, result: AnalysisResult },
  { title: 'RepositoryAnalysis' },
);

export const ProjectAnswer = Type.Object(
  {
    id: Id,
    name: Type.String({ examples: ['shop'] }),
    slug: Type.String({ examples: ['shop-k3x9ta'] }),
    repository: Type.Object(
      {
        providerId: nullable(Id),
        kind: Type.Enum(['github', 'gitlab', 'gitea', 'bitbucket', 'url']),
        fullName: Type.String({ examples: ['ada/shop'] }),
        cloneUrl: Type.String({ examples: ['https://github.com/ada/shop.git'] }),
        webUrl: nullable(Type.String({ examples: ['https://github.com/ada/shop'] })),
        deployKey: nullable(
          Type.String({ description: 'The public key to add to a repository that is read over ssh.' }),
        ),
      },
      { title: 'ProjectRepository' },
    ),
    branch: nullable(
      Type.String({ description: 'Null: the default branch of the repository.', examples: ['main'] }),
    ),
    rootDirectory: Type.String({ examples: ['.'] }),
    status: Type.Enum(['draft', 'analyzing', 'ready', 'active', 'failed']),
    analysis: Type.Object(
      {
        status: AnalysisStatus,
        operationId: nullable(Id),
        commit: nullable(Commit),
        result: Type.Optional({ ...nullable(AnalysisResult), description: 'Not in lists.' }),
        fault: nullable(FaultAnswer),
      },
      { title: 'ProjectAnalysis' },
    ),
    environments: Type.Array(EnvironmentAnswer),
    createdAt: Time,
    updatedAt: Time,
  },
  { title: 'Project' },
);

export const ProjectsAnswer = Type.Object(
  { items: Type.Array(ProjectAnswer), nextCursor: nullable(Type.String()) },
  { title: 'ProjectList' },
);

export const FinalizeAnswer = Type.Object(
  { project: ProjectAnswer, environment: EnvironmentAnswer, deployment: nullable(DeploymentAnswer) },
  { title: 'FinalizedProject' },
);
