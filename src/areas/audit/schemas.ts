/** What goes over the wire in this area. */
import Type from 'typebox';
import { closed, Id, nullable, PageQuery, Time } from '../../http/schemas.ts';

const filters = {
  actor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 254,
      description:
        'The id of an account or token, an address, the name of a token, or `person`, `token`, `push`, `schedule`, `service`.',
    }),
  ),
  action: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'The id of an operation of this document, `signIn`, or the kind of work.',
      examples: ['deleteProject'],
    }),
  ),
  subject: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'The id of what it is about, or its type.' }),
  ),
  from: Type.Optional({ ...Time, maxLength: 40, description: 'Not before.' }),
  to: Type.Optional({ ...Time, maxLength: 40, description: 'Before.' }),
};

export const ExportQuery = Type.Object(filters, closed);
export const AuditQuery = Type.Object({ ...PageQuery.properties, ...filters }, closed);

const Entry = Type.Object(
  {
    id: Id,
    at: Time,
    actor: Type.Object({
      kind: Type.Enum(['person', 'token', 'push', 'schedule', 'service']),
      name: nullable(Type.String({ description: 'As it was called then.', examples: ['ada@example.com'] })),
      accountId: nullable(Id),
      tokenId: nullable(Id),
    }),
    action: Type.String({ examples: ['deleteProject'] }),
    subject: nullable(
      Type.Object({
        type: Type.String({ examples: ['project'] }),
        id: Type.String({ examples: ['01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b'] }),
      }),
    ),
    changes: nullable(
      Type.Unknown({
        description: '`asked`: what was sent, with `…` for what may be secret. `before`: what was there.',
      }),
    ),
    ip: nullable(Type.String({ examples: ['192.0.2.17'] })),
    requestId: nullable(Type.String({ examples: ['01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b'] })),
  },
  { title: 'AuditEntry' },
);

export const AuditAnswer = Type.Object(
  { items: Type.Array(Entry), nextCursor: nullable(Type.String()) },
  { title: 'AuditPage' },
);
