/** What goes over the wire about services. */
import Type from 'typebox';
import { serviceKinds } from '../../analysis/result.ts';
import { closed, FaultAnswer, Id, idOf, idParams, matching, nullable, Time } from '../../http/schemas.ts';
import type { EnvironmentId, ServiceId } from '../../ids.ts';
import { kinds } from './kinds/kinds.ts';
import { serviceStatuses } from './services.ts';

const all = serviceKinds.map((kind) => kinds[kind]);
const experimental = all.filter(({ isExperimental }) => isExperimental).map(({ kind }) => kind);

export const Kind = Type.Enum([...serviceKinds], {
  title: 'ServiceKind',
  description: `Experimental, as they have not been proven against the real images yet: ${experimental.map((kind) => `\`${kind}\``).join(', ')}.`,
  'x-experimental': experimental,
  examples: ['postgres'],
});

const Version = Type.String({
  maxLength: 20,
  pattern: matching(
    '^[0-9]+(\\.[0-9]+){0,2}$',
    'must be a version in digits and dots, such as `17` or `8.4`',
  ),
  description: `One of:\n${all.map(({ kind, versions, defaultVersion }) => `- \`${kind}\`: ${versions.join(', ')}; ${defaultVersion} if not said`).join('\n')}`,
  examples: ['17'],
});

const Name = Type.String({
  maxLength: 40,
  pattern: matching(
    '^[a-z]([a-z0-9-]*[a-z0-9])?$',
    'must be a host name of small letters, digits and dashes that begins with a letter, such as `main-db`',
  ),
  description:
    'Its host name for the application, once in an environment; the kind if not said. Its URL is in the variable `<NAME>_URL`.',
  examples: ['main'],
});

const Storage = Type.String({
  maxLength: 20,
  pattern: matching('^[1-9][0-9]*(Mi|Gi)$', 'must be a whole number with Mi or Gi, such as `10Gi`'),
  description: 'What it is meant to need. Kept and shown; the server’s disk is the limit.',
  examples: ['10Gi'],
});

const Memory = Type.Integer({
  minimum: 64,
  maximum: 1_048_576,
  description: `The most that it may use. If not said: ${all.map(({ kind, memoryMb }) => `\`${kind}\` ${memoryMb.standard}`).join(', ')}.`,
  examples: [512],
});

export const WantedService = Type.Object(
  {
    kind: Kind,
    version: Type.Optional(Version),
    name: Type.Optional(Name),
    storage: Type.Optional(Storage),
    memoryMb: Type.Optional(Memory),
  },
  { ...closed, title: 'WantedService' },
);

export const ServiceInEnvironment = Type.Object(
  {
    id: Id,
    kind: Kind,
    name: Type.String({ examples: ['main'] }),
    version: Type.String({ examples: ['17'] }),
    memoryMb: Type.Integer({ examples: [512] }),
    storage: nullable(Storage),
    status: Type.Enum([...serviceStatuses]),
    problem: { ...nullable(FaultAnswer), description: 'Why it does not run.' },
  },
  { title: 'Service' },
);

const ListedService = Type.Intersect(
  [
    ServiceInEnvironment,
    Type.Object({
      variables: Type.Array(Type.String({ examples: ['DATABASE_URL'] }), {
        description: 'Variables of the application that have its URL. The values are not shown to anyone.',
      }),
      hasData: Type.Boolean({ description: 'There is a volume of it on the server.' }),
      createdAt: Time,
      updatedAt: Time,
      removedAt: nullable(Time),
    }),
  ],
  { title: 'ListedService' },
);

export const ServiceParams = Type.Object(
  { ...idParams<EnvironmentId>().properties, sid: { ...idOf<ServiceId>(), description: 'Of the service.' } },
  closed,
);

export const CredentialsAnswer = Type.Object(
  {
    id: Id,
    kind: Kind,
    name: Name,
    url: Type.String({ examples: ['postgresql://app:…@main:5432/app'] }),
  },
  { title: 'ServiceCredentials' },
);

export const ServicesAnswer = Type.Object({ items: Type.Array(ListedService) }, { title: 'ServiceList' });

export const ServicesBody = Type.Object(
  {
    services: Type.Array(WantedService, { maxItems: 10, description: 'The wanted whole.' }),
    remove: Type.Optional(
      Type.Array(Name, {
        maxItems: 20,
        uniqueItems: true,
        description:
          'The services that are to go, by name. One that is there and neither in `services` nor here is not removed: the call is refused with `removal_unconfirmed`. Names that are not there do no harm, so that the same call can be sent again.',
        examples: [['redis']],
      }),
    ),
    deleteData: Type.Optional(
      Type.Boolean({
        description:
          'Deletes the data of every service that is not wanted, also of those that were removed before. Without it, data is kept.',
      }),
    ),
  },
  {
    ...closed,
    title: 'WantedServices',
    examples: [{ services: [{ kind: 'postgres', version: '17', name: 'main' }, { kind: 'redis' }] }],
  },
);

export const ChangedAnswer = Type.Object(
  {
    services: Type.Array(ListedService),
    operationId: nullable(Id),
    needs: Type.Enum(['restart', 'nothing'], {
      description: 'Whether the application has to be started again to know its variables.',
    }),
  },
  { title: 'ChangedServices' },
);
