/** What goes over the wire about backups. */
import Type from 'typebox';
import { BackupStatus } from '../../events/event-kinds.ts';
import { closed, FaultAnswer, Id, idOf, idParams, nullable, PageQuery, Time } from '../../http/schemas.ts';
import type { BackupId, BackupPartId, EnvironmentId, ServiceId } from '../../ids.ts';

export const BackupParams = Type.Object(
  { ...idParams<EnvironmentId>().properties, bid: { ...idOf<BackupId>(), description: 'Of the backup.' } },
  closed,
);
export const BackupsQuery = PageQuery;

const Bytes = (description: string) => Type.Number({ description, examples: [1_048_576] });
const Sha256 = Type.String({
  examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
});

const Verification = Type.Object(
  {
    status: Type.Enum(['pending', 'verified', 'failed', 'unverifiable', 'off'], {
      description:
        '`verified`: restored into a throw-away container and compared. `unverifiable`: stored, but it could not be tried, and `reason` says why.',
    }),
    reason: nullable(Type.String()),
    at: nullable(Time),
  },
  { title: 'BackupVerification' },
);

const Part = Type.Object(
  {
    id: Id,
    source: Type.Object({
      type: Type.Enum(['service', 'volume']),
      serviceId: nullable(Id),
      name: Type.String({ examples: ['main-db'] }),
    }),
    kind: Type.String({ examples: ['postgres'] }),
    version: nullable(Type.String({ examples: ['17'] })),
    format: Type.String({ examples: ['pg_dump custom'] }),
    sizeBytes: nullable(Bytes('As it lies at its destination.')),
    rawBytes: nullable(Bytes('As the database gave it.')),
    sha256: nullable({ ...Sha256, description: 'Of the dump, as it is downloaded.' }),
    isEncrypted: Type.Boolean({
      description: 'With a key of the workspace, before it left for its destination.',
    }),
    verification: Verification,
    warning: nullable(
      Type.String({
        description: 'What is true but weaker, such as files that changed while they were read.',
      }),
    ),
  },
  { title: 'BackupPart' },
);

const LocalPlace = Type.Object({ type: Type.Literal('local') }, closed);
const s3Fields = {
  type: Type.Literal('s3'),
  endpoint: Type.String({
    minLength: 1,
    maxLength: 500,
    examples: ['https://s3.eu-central-1.amazonaws.com'],
  }),
  region: Type.String({ minLength: 1, maxLength: 100, examples: ['eu-central-1'] }),
  bucket: Type.String({ minLength: 1, maxLength: 100, examples: ['my-backups'] }),
};

const Destination = Type.Union([
  Type.Object({ type: Type.Literal('local') }, { title: 'LocalDestination' }),
  Type.Object(
    {
      ...s3Fields,
      prefix: Type.String({ examples: ['slipway/'] }),
      accessKeyId: Type.String({ examples: ['AKIAIOSFODNN7EXAMPLE'] }),
    },
    { title: 'S3Destination', description: 'Its secret is never shown.' },
  ),
]);

export const BackupAnswer = Type.Object(
  {
    id: Id,
    environmentId: Id,
    environmentName: Type.String({
      description: 'As it was called then; it may be gone.',
      examples: ['production'],
    }),
    serviceId: nullable({ ...Id, description: 'Null for the whole environment.' }),
    trigger: Type.Enum(['manual', 'schedule', 'pre_restore', 'pre_import']),
    status: BackupStatus,
    sizeBytes: nullable(Bytes('Of all its parts.')),
    sha256: nullable({ ...Sha256, description: 'Of its only part; of several, over their sums.' }),
    verifiedAt: nullable({ ...Time, description: 'When all of its parts were restored and compared.' }),
    destination: Destination,
    parts: Type.Array(Part),
    operationId: nullable(Id),
    requestedBy: nullable(Id),
    fault: nullable(FaultAnswer),
    createdAt: Time,
    finishedAt: nullable(Time),
  },
  { title: 'Backup' },
);

const Retention = {
  keepLast: Type.Integer({
    minimum: 1,
    maximum: 1_000,
    description: 'So many stay, whatever their age.',
    examples: [7],
  }),
  keepDays: Type.Integer({
    minimum: 1,
    maximum: 3_650,
    description: 'So long they stay, whatever their number.',
    examples: [30],
  }),
};
const Cron = Type.String({
  minLength: 6,
  maxLength: 200,
  description: 'Five fields, or a shorthand such as `@daily`; not more often than every 15 minutes.',
  examples: ['30 3 * * *'],
});
const Timezone = Type.String({ minLength: 1, maxLength: 100, examples: ['Europe/Berlin'] });

export const ConfigAnswer = Type.Object(
  {
    enabled: Type.Boolean(),
    cron: Cron,
    timezone: Timezone,
    retention: Type.Object(Retention),
    destination: Destination,
    verify: Type.Boolean(),
    nextRunAt: nullable({ ...Time, description: 'With the delay of up to five minutes that each has.' }),
    lastRunAt: nullable(Time),
  },
  { title: 'BackupConfig' },
);

export const ConfigBody = Type.Object(
  {
    enabled: Type.Optional(Type.Boolean({ examples: [true] })),
    cron: Type.Optional(Cron),
    timezone: Type.Optional(Timezone),
    retention: Type.Optional(
      Type.Object(
        { keepLast: Type.Optional(Retention.keepLast), keepDays: Type.Optional(Retention.keepDays) },
        closed,
      ),
    ),
    destination: Type.Optional(
      Type.Union([
        LocalPlace,
        Type.Object(
          {
            ...s3Fields,
            prefix: Type.Optional(Type.String({ maxLength: 400, examples: ['slipway/'] })),
            accessKeyId: Type.String({ minLength: 1, maxLength: 256, examples: ['AKIAIOSFODNN7EXAMPLE'] }),
            secretAccessKey: Type.Optional(
              Type.String({
                minLength: 1,
                maxLength: 500,
                description:
                  'Never shown again. May be left away where endpoint and access key are those of before.',
                examples: ['wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'],
              }),
            ),
          },
          closed,
        ),
      ]),
    ),
    verify: Type.Optional(
      Type.Boolean({ description: 'Whether each is restored and compared.', examples: [true] }),
    ),
  },
  {
    ...closed,
    title: 'BackupConfigChange',
    examples: [{ enabled: true, cron: '30 3 * * *', timezone: 'Europe/Berlin' }],
  },
);

const Used = Type.Object(
  { usedBytes: Bytes('At all destinations.'), count: Type.Integer({ examples: [7] }) },
  { title: 'BackupStorage' },
);

export const AllBackupsAnswer = Type.Object(
  { items: Type.Array(BackupAnswer), nextCursor: nullable(Type.String()), storage: Used },
  { title: 'BackupList' },
);

export const BackupsAnswer = Type.Intersect(
  [AllBackupsAnswer, Type.Object({ config: nullable(ConfigAnswer) })],
  { title: 'EnvironmentBackupList' },
);

export const TriggerBody = Type.Object(
  {
    serviceId: Type.Optional({
      ...idOf<ServiceId>(),
      description: 'One service alone; all and the volumes, if not said.',
    }),
  },
  { ...closed, title: 'BackupWish' },
);

export const RestoreBody = Type.Object(
  {
    serviceId: Type.Optional({
      ...idOf<ServiceId>(),
      description: 'One service alone out of a backup of several.',
    }),
    safetyBackup: Type.Optional(
      Type.Boolean({
        description: 'Whether what is there now is backed up first; yes, if not said.',
        examples: [true],
      }),
    ),
  },
  { ...closed, title: 'RestoreWish' },
);

export const ImportQuery = Type.Object(
  {
    serviceId: Type.Optional({
      ...idOf<ServiceId>(),
      description: 'Needed where the environment has several services.',
    }),
  },
  closed,
);

/** Read by hand, as it arrives; this is how it is described. */
export const ImportBody = Type.Object(
  {
    serviceId: Type.Optional({ ...idOf<ServiceId>(), description: 'Before the file; or in the query.' }),
    file: Type.String({
      format: 'binary',
      description:
        '`.sql`, `.sql.gz`, `.sql.zst`, or a dump of the database’s own tool; recognised by content.',
      examples: ['(bytes)'],
    }),
  },
  { ...closed, title: 'ImportedFile' },
);

export const DownloadQuery = Type.Object(
  {
    partId: Type.Optional({
      ...idOf<BackupPartId>(),
      description: 'Needed where the backup has several parts.',
    }),
  },
  closed,
);

export const DeleteQuery = Type.Object(
  {
    force: Type.Optional(
      Type.Boolean({ description: 'Also where it is the last good one.', examples: [true] }),
    ),
  },
  closed,
);
