/** What goes over the wire in this area. */
import Type from 'typebox';
import { closed, Id, idOf, nullable } from '../../http/schemas.ts';
import type { AccountId } from '../../ids.ts';

const Registration = Type.Enum(['open', 'first', 'closed'], { examples: ['first'] });

export const ChangeBody = Type.Object(
  {
    registration: Type.Optional(
      nullable({
        ...Registration,
        description: 'Who may register; null is what `SLIPWAY_REGISTRATION` says.',
      }),
    ),
    operatorIds: Type.Optional(
      Type.Array(idOf<AccountId>(), {
        minItems: 1,
        maxItems: 50,
        description: 'The accounts that look after the installation: these and no others.',
        examples: [['01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b']],
      }),
    ),
  },
  { ...closed, title: 'InstallationChange', minProperties: 1 },
);

export const InstallationAnswer = Type.Object(
  {
    version: Type.String({ examples: ['0.1.0'] }),
    registration: Registration,
    registrationSetting: { ...Registration, description: 'What the settings say.' },
    operators: Type.Array(
      Type.Object({
        id: Id,
        email: Type.String({ examples: ['ada@example.com'] }),
        name: nullable(Type.String({ examples: ['Ada Lovelace'] })),
      }),
    ),
    accounts: Type.Integer({ description: 'Up to 10,000.', examples: [3] }),
    mail: Type.String({ description: 'Where mail goes.' }),
    limits: Type.Object(
      {
        requests: Type.Integer(),
        signIn: Type.Integer(),
        search: Type.Integer(),
        triggers: Type.Integer(),
        streams: Type.Integer(),
      },
      { description: 'As the settings say.' },
    ),
    auditDays: Type.Integer({ examples: [365] }),
    oidc: nullable(
      Type.Object(
        {
          issuer: Type.String({ examples: ['https://id.example.com'] }),
          unknownWorkspaces: Type.Array(
            Type.Object({ workspaceId: Id, groups: Type.Array(Type.String({ examples: ['platform'] })) }),
            {
              description:
                'What `SLIPWAY_OIDC_ROLES` names and is not here: its groups give nobody a role in it.',
            },
          ),
        },
        { title: 'InstallationOidc', description: 'Sign-in by OpenID Connect; null where it is not set up.' },
      ),
    ),
  },
  { title: 'Installation' },
);

export const TestMailAnswer = Type.Object(
  {
    delivered: Type.Boolean(),
    to: Type.String({ examples: ['ada@example.com'] }),
    detail: Type.String({ description: 'What the mail server said.' }),
  },
  { title: 'TestMail' },
);
