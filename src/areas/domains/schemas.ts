/** What goes over the wire about domains. */
import Type from 'typebox';
import { Finding } from '../../http/problem.ts';
import { closed, FaultAnswer, Id, idOf, idParams, nullable, Time } from '../../http/schemas.ts';
import type { DomainId, EnvironmentDomainId, EnvironmentId } from '../../ids.ts';

const Hostname = Type.String({
  minLength: 1,
  maxLength: 1_000,
  description: 'In either form: `bücher.example` or its A-labels.',
  examples: ['shop.example.com'],
});

export const RegisterBody = Type.Object({ hostname: Hostname }, { ...closed, title: 'NewDomain' });

export const DomainAnswer = Type.Object(
  {
    id: Id,
    hostname: Type.String({ description: 'In A-labels.', examples: ['shop.example.com'] }),
    status: Type.Enum(['pending', 'verified', 'failed']),
    verification: Type.Object({
      type: Type.Literal('TXT'),
      name: Type.String({ examples: ['_slipway.shop.example.com'] }),
      value: Type.String({ examples: ['slipway-verification=5Zr0…'] }),
    }),
    lastCheck: nullable(Type.Object({ at: Time, findings: Type.Array(Finding) })),
    verifiedAt: nullable(Time),
    missingSince: nullable({
      ...Time,
      description: 'Since when the record is gone that proved it; after a week it is let go.',
    }),
    createdAt: Time,
    updatedAt: Time,
  },
  { title: 'Domain' },
);

export const DomainsAnswer = Type.Object(
  {
    items: Type.Array(DomainAnswer),
    nextCursor: nullable(Type.String()),
  },
  { title: 'DomainList' },
);

const Pem = (examples: string[]) => Type.String({ maxLength: 100_000, examples });

export const ConnectBody = Type.Object(
  {
    domainId: Type.Optional({ ...idOf<DomainId>(), description: 'The domain itself; or `hostname`.' }),
    hostname: Type.Optional({ ...Hostname, description: 'Any name under a verified domain; or `domainId`.' }),
    ssl: Type.Optional(
      Type.Object(
        {
          mode: Type.Enum(['auto', 'custom', 'off'], {
            description: '`auto`: a certificate of the authority, renewed by itself.',
          }),
          certificate: Type.Optional(Pem(['-----BEGIN CERTIFICATE-----\n…'])),
          privateKey: Type.Optional(Pem(['-----BEGIN PRIVATE KEY-----\n…'])),
        },
        closed,
      ),
    ),
    redirectHttp: Type.Optional(Type.Boolean({ description: 'From http to https; yes, if not said.' })),
    www: Type.Optional(
      Type.Enum(['none', 'redirect_to_apex', 'redirect_to_www'], {
        description:
          'Whether the name with `www.` leads to the bare one, or the other way round; `none` if not said.',
      }),
    ),
    hstsSeconds: Type.Optional(
      nullable(
        Type.Integer({
          minimum: 0,
          maximum: 63_072_000,
          description: 'How long browsers remember to use https alone; not said to them unless it is set.',
          examples: [31_536_000],
        }),
      ),
    ),
  },
  {
    ...closed,
    title: 'DomainOfEnvironment',
    examples: [{ hostname: 'shop.example.com', ssl: { mode: 'auto' } }],
  },
);

export const ConnectQuery = Type.Object(
  {
    force: Type.Optional(
      Type.Boolean({
        description: 'Connect it although its DNS is wrong, and keep trying for a certificate.',
      }),
    ),
  },
  closed,
);

export const NameAnswer = Type.Object(
  {
    id: Id,
    environmentId: Id,
    domainId: Id,
    hostname: Type.String({ examples: ['shop.example.com'] }),
    url: Type.String({ examples: ['https://shop.example.com'] }),
    ssl: Type.Object({ mode: Type.Enum(['auto', 'custom', 'off']) }),
    redirectHttp: Type.Boolean(),
    www: Type.Enum(['none', 'redirect_to_apex', 'redirect_to_www']),
    hstsSeconds: nullable(Type.Integer()),
    certificate: Type.Object({
      status: Type.Enum(['none', 'pending', 'issued', 'failed']),
      issuer: nullable(Type.String({ examples: ['Let’s Encrypt'] })),
      notAfter: nullable(Time),
      fault: nullable(FaultAnswer),
    }),
    createdAt: Time,
  },
  { title: 'ConnectedDomain' },
);

export const ConnectedAnswer = Type.Intersect(
  [
    NameAnswer,
    Type.Object({
      operationId: nullable({ ...Id, description: 'Null where it stands on no server yet.' }),
      findings: Type.Array(Finding, {
        description: 'What was seen in DNS; nothing is looked at while it stands on no server.',
      }),
    }),
  ],
  { title: 'ConnectingDomain' },
);
export const NamesAnswer = Type.Object({ items: Type.Array(NameAnswer) }, { title: 'ConnectedDomainList' });
export const NameParams = Type.Object(
  {
    ...idParams<EnvironmentId>().properties,
    domainId: { ...idOf<EnvironmentDomainId>(), description: 'Of the name, as the environment lists it.' },
  },
  closed,
);
