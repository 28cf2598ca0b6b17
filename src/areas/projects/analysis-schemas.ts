/** The result of an analysis over the wire, field by field as `src/analysis/result.ts` has it. */
import Type from 'typebox';
import { serviceKinds } from '../../analysis/result.ts';
import { nullable } from '../../http/schemas.ts';

const text = (example: string) => nullable(Type.String({ examples: [example] }));

const App = Type.Object(
  {
    path: Type.String({ description: '`.` for the root.', examples: ['.'] }),
    name: Type.String({ examples: ['shop'] }),
    language: Type.String({ examples: ['typescript'] }),
    framework: text('next'),
    packageManager: nullable(
      Type.Object({
        name: Type.String({ examples: ['pnpm'] }),
        version: text('10.4.1'),
        lockFile: text('pnpm-lock.yaml'),
      }),
    ),
    versions: Type.Record(Type.String(), Type.String(), { examples: [{ node: '24' }] }),
    installCommand: text('pnpm install --frozen-lockfile'),
    buildCommand: text('pnpm run build'),
    startCommand: text('pnpm start'),
    releaseCommand: text('pnpm prisma migrate deploy'),
    staticOutput: nullable(
      Type.Object({
        directory: Type.String({ examples: ['dist'] }),
        isSinglePage: Type.Boolean({ description: 'Unknown paths are answered with index.html.' }),
      }),
    ),
    port: nullable(Type.Integer({ examples: [3000] })),
    healthPath: text('/healthz'),
    processes: Type.Array(
      Type.Object({
        name: Type.String({ examples: ['worker'] }),
        kind: Type.Enum(['worker', 'cron']),
        command: Type.String({ examples: ['node worker.js'] }),
        schedule: text('0 3 * * *'),
      }),
    ),
    dockerfile: nullable(Type.Object({ path: Type.String({ examples: ['Dockerfile'] }) })),
    volumes: Type.Array(Type.String(), { description: 'Folders whose content must outlive a release.' }),
    confidence: Type.Number({ minimum: 0, maximum: 1 }),
  },
  { title: 'AnalysedApp' },
);

export const AnalysisResult = Type.Object(
  {
    apps: Type.Array(App),
    services: Type.Array(
      Type.Object(
        {
          kind: Type.Enum([...serviceKinds]),
          version: text('17'),
          reason: Type.String({ examples: ['pg is among the dependencies, and DATABASE_URL is read'] }),
          certainty: Type.Enum(['needed', 'probable']),
          apps: Type.Array(Type.String()),
        },
        { title: 'NeededService' },
      ),
    ),
    variables: Type.Array(
      Type.Object(
        {
          key: Type.String({ examples: ['DATABASE_URL'] }),
          required: Type.Boolean(),
          secret: Type.Boolean(),
          build: Type.Boolean({ description: 'Read while building.' }),
          default: nullable(Type.String()),
          given: nullable(
            Type.Enum(['service', 'generate'], {
              description: 'By a service, or made by us; null: yours to give.',
            }),
          ),
          reason: Type.String(),
          apps: Type.Array(Type.String()),
        },
        { title: 'NeededVariable' },
      ),
    ),
    composeFile: text('compose.yaml'),
    monorepo: nullable(
      Type.Object({
        kind: Type.String({ examples: ['pnpm'] }),
        tool: text('turborepo'),
        members: Type.Array(Type.String({ examples: ['apps/web'] })),
      }),
    ),
    languages: Type.Array(
      Type.Object({ name: Type.String({ examples: ['typescript'] }), share: Type.Number() }),
    ),
    warnings: Type.Array(
      Type.Object({ code: Type.String(), message: Type.String(), file: nullable(Type.String()) }),
    ),
    evidence: Type.Array(
      Type.Object({
        field: Type.String({ examples: ['apps[0].startCommand'] }),
        file: Type.String({ examples: ['package.json'] }),
        line: Type.Optional(Type.Integer()),
        note: Type.String({ examples: ['scripts.start'] }),
      }),
      { description: 'Which file told what.' },
    ),
  },
  { title: 'AnalysisResult' },
);
