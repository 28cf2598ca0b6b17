/** What goes over the wire in this area. */
import Type from 'typebox';
import {
  closed,
  FaultAnswer,
  Id,
  idOf,
  matching,
  nullable,
  oneLine,
  PageQuery,
  Time,
} from '../../http/schemas.ts';
import type { GitProviderId } from '../../ids.ts';

const Kind = Type.Enum(['github', 'gitlab', 'gitea', 'bitbucket'], {
  title: 'GitProviderKind',
  description: '`gitea` is for Forgejo too.',
  examples: ['github'],
});

export const SaveTokenBody = Type.Object(
  {
    provider: Kind,
    token: Type.String({
      minLength: 1,
      maxLength: 4096,
      pattern: matching(
        '^[\\x21-\\x7e]+$',
        'must be the token alone: letters, digits and signs without spaces or line breaks, such as `ghp_…`',
      ),
      description:
        'A personal or project access token. Checked with the provider, sealed, and never shown again.',
      examples: ['ghp_16C7e42F292c6912E7710c838347Ae178B4a'],
    }),
    baseUrl: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description: 'Of a host of your own, as you open it in a browser. Absent: the provider’s public one.',
        examples: ['https://git.example.com'],
      }),
    ),
    username: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        pattern: matching('^[^\\p{C}:]+$', 'must be a user name without a colon, such as `ada`'),
        description: 'Only for Bitbucket app passwords and API tokens: the account they belong to.',
        examples: ['ada'],
      }),
    ),
    label: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 60,
        pattern: oneLine,
        description: 'Yours to choose; the login of the account if not said.',
        examples: ['work'],
      }),
    ),
  },
  { ...closed, title: 'NewGitToken' },
);

export const ProviderAnswer = Type.Object(
  {
    id: Id,
    provider: Kind,
    baseUrl: Type.String({ examples: ['https://github.com'] }),
    label: Type.String({ examples: ['ada'] }),
    account: Type.Object({
      login: Type.String({ examples: ['ada'] }),
      name: nullable(Type.String({ examples: ['Ada Lovelace'] })),
      avatarUrl: nullable(Type.String()),
    }),
    status: Type.Enum(['connected', 'rejected', 'unreachable'], {
      description: '`rejected`: the provider no longer takes the token. Save a new one.',
    }),
    problem: nullable(FaultAnswer),
    tokenExpiresAt: nullable(Time),
    checkedAt: Time,
    createdAt: Time,
  },
  { title: 'GitProvider' },
);

export const ProvidersAnswer = Type.Object(
  { items: Type.Array(ProviderAnswer), nextCursor: nullable(Type.String()) },
  { title: 'GitProviderList' },
);

export const SearchQuery = Type.Object(
  {
    ...PageQuery.properties,
    q: Type.Optional(
      Type.String({
        maxLength: 200,
        description: 'Words that the name must have, owner included; case does not matter.',
        examples: ['shop'],
      }),
    ),
    providerId: Type.Optional(idOf<GitProviderId>()),
    cursor: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1000, description: '`nextCursor` of the page before.' }),
    ),
  },
  closed,
);

const RepositoryAnswer = Type.Object(
  {
    providerId: Id,
    id: Type.String({ description: 'The provider’s own id.', examples: ['1296269'] }),
    fullName: Type.String({ examples: ['ada/shop'] }),
    name: Type.String({ examples: ['shop'] }),
    owner: Type.String({ examples: ['ada'] }),
    description: nullable(Type.String()),
    isPrivate: Type.Boolean(),
    isArchived: Type.Boolean(),
    isFork: Type.Boolean(),
    defaultBranch: nullable(
      Type.String({ description: 'Null while the repository is empty.', examples: ['main'] }),
    ),
    cloneUrl: Type.String({ examples: ['https://github.com/ada/shop.git'] }),
    webUrl: Type.String({ examples: ['https://github.com/ada/shop'] }),
    pushedAt: nullable(Time),
  },
  { title: 'Repository' },
);

export const RepositoriesAnswer = Type.Object(
  {
    items: Type.Array(RepositoryAnswer),
    nextCursor: nullable(Type.String()),
    warnings: Type.Array(
      Type.Object({
        providerId: Id,
        code: Type.String({ examples: ['provider_unreachable'] }),
        message: Type.String(),
      }),
      { description: 'Accounts that could not be asked; the others are in `items` all the same.' },
    ),
  },
  { title: 'RepositoryList' },
);

export const BranchParams = Type.Object(
  {
    providerId: idOf<GitProviderId>(),
    repo: Type.String({
      minLength: 1,
      maxLength: 256,
      pattern: matching(
        '^[^\\p{C}\\s?#\\\\]+$',
        'must be `owner/name`, such as `ada/shop` (in a path `ada%2Fshop`), or the provider’s numeric id',
      ),
      description: '`owner%2Fname`, or the provider’s numeric id.',
      examples: ['ada%2Fshop'],
    }),
  },
  closed,
);

export const BranchQuery = Type.Object(
  {
    limit: PageQuery.properties.limit,
    cursor: Type.Optional(
      Type.String({ minLength: 1, maxLength: 700, description: '`nextCursor` of the page before.' }),
    ),
    q: Type.Optional(
      Type.String({ maxLength: 200, description: 'Part of the name.', examples: ['release'] }),
    ),
  },
  closed,
);

export const BranchesAnswer = Type.Object(
  {
    items: Type.Array(
      Type.Object({
        name: Type.String({ examples: ['main'] }),
        sha: Type.String({ examples: ['7fd1a60b01f91b314f59955a4e4d4e80d8edf11d'] }),
        isDefault: Type.Boolean(),
        isProtected: nullable(Type.Boolean({ description: 'Null where the provider does not tell.' })),
      }),
    ),
    nextCursor: nullable(Type.String()),
  },
  { title: 'BranchList' },
);
