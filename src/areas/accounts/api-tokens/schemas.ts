/** What goes over the wire of API tokens. */
import Type from 'typebox';
import { closed, Id, idOf, nullable, oneLine, Time } from '../../../http/schemas.ts';
import type { ProjectId } from '../../../ids.ts';
import { abilities } from '../../../principal.ts';

const Abilities = Type.Array(Type.Enum(abilities), {
  minItems: 1,
  maxItems: abilities.length,
  description:
    '`read`; `deploy` (and read); `change` (and deploy); `manage` (and change); `read_secrets` (and read): what hands out data or passwords. What its maker may not do, the token may not either.',
  examples: [['deploy']],
});

export const ApiTokenBody = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 100,
      pattern: oneLine,
      description: 'What it is for.',
      examples: ['CI of the shop'],
    }),
    abilities: Abilities,
    projectId: Type.Optional({
      ...idOf<ProjectId>(),
      description: 'The only project there is for it; all of the workspace where it is left away.',
    }),
    expiresAt: Type.Optional({ ...Time, maxLength: 40, description: 'Never, where it is left away.' }),
  },
  { ...closed, title: 'ApiTokenRequest' },
);

const apiToken = {
  id: Id,
  name: Type.String({ examples: ['CI of the shop'] }),
  start: Type.String({ description: 'Its first characters, to know it by.', examples: ['slw_3xT0'] }),
  abilities: Abilities,
  projectId: nullable(Id),
  createdBy: Type.Object({ id: Id, email: Type.String({ examples: ['ada@example.com'] }) }),
  expiresAt: nullable(Time),
  lastUsedAt: nullable({ ...Time, description: 'To the minute; null where it was never used.' }),
  createdAt: Time,
};

export const NewApiTokenAnswer = Type.Object(
  {
    ...apiToken,
    token: Type.Optional(
      Type.String({
        description:
          'The token itself: shown this once, and stored only as a hash. Not there where an `Idempotency-Key` was repeated.',
        examples: ['slw_…'],
      }),
    ),
  },
  { title: 'NewApiToken' },
);

export const ApiTokensAnswer = Type.Object(
  { items: Type.Array(Type.Object(apiToken, { title: 'ApiToken' })), nextCursor: nullable(Type.String()) },
  { title: 'ApiTokenPage' },
);
