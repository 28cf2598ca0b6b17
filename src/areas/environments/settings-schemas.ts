/** What goes over the wire about how an environment is built and run. */
import Type from 'typebox';
import { closed, matching, nullable } from '../../http/schemas.ts';
import { settingKeys } from './needs.ts';

/** One line: a command is a line of a Dockerfile and of a log. */
const Command = Type.String({
  maxLength: 2_000,
  pattern: matching(
    '^[^\\x00-\\x08\\x0a-\\x1f\\x7f]*$',
    'must be one line, such as `npm run build`; join several commands with `&&`',
  ),
});
const PathInside = Type.String({
  maxLength: 500,
  pattern: matching(
    '^(?!/)(?!.*(^|/)\\.\\.(/|$))[^\\x00-\\x1f\\x7f\\\\]*$',
    'must be a path inside the app’s folder, without a slash in front and without `..`, such as `docker/Dockerfile`',
  ),
});
const Port = Type.Integer({ minimum: 1, maximum: 65_535, examples: [3000] });
const HealthPath = Type.String({
  maxLength: 500,
  pattern: matching(
    '^/[\\x21-\\x7e]*$',
    'must be a path that begins with a slash and has no spaces, such as `/healthz`',
  ),
  examples: ['/healthz'],
});
const Memory = Type.Integer({ minimum: 64, maximum: 1_048_576, examples: [512] });
const Cpus = Type.Number({ minimum: 0.1, maximum: 64, examples: [1.5] });
const Replicas = Type.Integer({ minimum: 0, maximum: 10, examples: [1] });

export const SpreadSetting = Type.Enum(['even', 'packed'], {
  description:
    'On a cluster: as many replicas on each server, or as few servers as their memory allows. `even` if not said.',
  examples: ['even'],
});

const seconds = (minimum: number, maximum: number, standard: number, description: string) =>
  Type.Integer({
    minimum,
    maximum,
    description: `${description} ${standard} if not said.`,
    examples: [standard],
  });

const Volume = Type.Object(
  {
    name: Type.String({
      maxLength: 40,
      pattern: matching(
        '^[a-z][a-z0-9-]*$',
        'must be small letters, digits and dashes, beginning with a letter, such as `uploads`',
      ),
      examples: ['uploads'],
    }),
    path: Type.String({
      maxLength: 500,
      pattern: matching(
        '^(?!.*/\\.{1,2}(/|$))/(?!/)[^\\x00-\\x1f\\x7f:,\\\\]+$',
        'must be a path from the root of the container without `..`, colons and commas, such as `/app/uploads`',
      ),
      description:
        'In the container, from the root. Not a folder of the kernel (/proc, /sys, /dev) or one that the system in the image needs, and not the folder of the app itself.',
      examples: ['/app/uploads'],
    }),
  },
  { ...closed, title: 'Volume' },
);

const Health = Type.Object(
  {
    path: Type.Optional(nullable({ ...HealthPath, description: 'Goes before `healthPath`.' })),
    port: Type.Optional({ ...Port, description: 'The port of the app, if not said.' }),
    timeoutSeconds: Type.Optional(seconds(1, 60, 5, 'How long one answer may take.')),
    startSeconds: Type.Optional(seconds(5, 900, 60, 'How long it may take until the first good answer.')),
  },
  { ...closed, title: 'HealthSettings', examples: [{ path: '/healthz', startSeconds: 120 }] },
);

const Process = Type.Object(
  {
    command: Type.Optional({ ...Command, minLength: 1, examples: ['node worker.js'] }),
    replicas: Type.Optional({ ...Replicas, description: 'None switches it off.' }),
    schedule: Type.Optional(
      Type.String({
        maxLength: 100,
        pattern: matching(
          '^(@[a-z]+|[0-9A-Za-z*/,-]+( [0-9A-Za-z*/,-]+){4})$',
          'must be five fields (minute, hour, day, month, weekday) with one space between them, such as `*/5 * * * *`, or a shorthand such as `@daily`',
        ),
        description:
          'Minute, hour, day, month, weekday, in UTC, or a shorthand such as `@daily`: run then, instead of all the time.',
        examples: ['*/5 * * * *'],
      }),
    ),
  },
  { ...closed, title: 'ProcessSettings' },
);

const settings = {
  installCommand: Type.Optional(nullable({ ...Command, examples: ['npm ci'] })),
  buildCommand: Type.Optional(nullable({ ...Command, examples: ['npm run build'] })),
  startCommand: Type.Optional(nullable({ ...Command, examples: ['node server.js'] })),
  releaseCommand: Type.Optional(nullable({ ...Command, examples: ['npx prisma migrate deploy'] })),
  staticOutput: Type.Optional(nullable({ ...PathInside, examples: ['dist'] })),
  port: Type.Optional(Port),
  healthPath: Type.Optional(nullable(HealthPath)),
  dockerfilePath: Type.Optional(nullable({ ...PathInside, examples: ['Dockerfile'] })),
  dockerfileTarget: Type.Optional(
    nullable(
      Type.String({
        maxLength: 100,
        pattern: matching(
          '^[A-Za-z0-9][A-Za-z0-9_.-]*$',
          'must be the name of a stage of the Dockerfile, such as `production`',
        ),
        description: 'The stage that is run; the last one if not said.',
        examples: ['production'],
      }),
    ),
  ),
  buildMemoryMb: Type.Optional(
    nullable({ ...Memory, description: 'The most that a build may use; if not said, half of the server’s.' }),
  ),
  buildCpus: Type.Optional(
    nullable({ ...Cpus, description: 'The most that a build may use; if not said, three quarters of them.' }),
  ),
  replicas: Type.Optional({ ...Replicas, minimum: 1, description: 'Of the web process; 1 if not said.' }),
  spread: Type.Optional(SpreadSetting),
  memoryMb: Type.Optional(
    nullable({
      ...Memory,
      description:
        'The most that a container may use; if not said or null, a part of the server’s (`resources` of the environment shows it).',
    }),
  ),
  cpus: Type.Optional(
    nullable({
      ...Cpus,
      description:
        'The most that a container may use; if not said or null, all but what is kept for the system.',
    }),
  ),
  volumes: Type.Optional(
    Type.Array(Volume, {
      maxItems: 20,
      description:
        'Folders that outlive releases. With any of them the old release stops before the new one starts; requests wait meanwhile.',
      examples: [[{ name: 'uploads', path: '/app/uploads' }]],
    }),
  ),
  health: Type.Optional(Health),
  drainSeconds: Type.Optional(
    seconds(0, 3_600, 30, 'How long requests that are under way may take before the old release is stopped.'),
  ),
  stopSeconds: Type.Optional(seconds(1, 600, 10, 'How long a container may take to end by itself.')),
  holdSeconds: Type.Optional(
    seconds(0, 300, 30, 'How long a request waits where nobody can take it for now.'),
  ),
  processes: Type.Optional(
    Type.Record(
      Type.String({
        pattern: matching(
          '^(?!web$)[A-Za-z][A-Za-z0-9_-]{0,39}$',
          'must be a name of letters, digits, `_` and `-` that is not `web`, such as `worker`',
        ),
      }),
      Process,
      {
        ...closed,
        maxProperties: 20,
        description:
          'Beside the web process, by name: those that the analysis found, changed, or further ones.',
        examples: [{ worker: { replicas: 2 } }],
      },
    ),
  ),
};

export const Settings = Type.Object(settings, {
  ...closed,
  title: 'BuildSettings',
  description: 'What is absent is as the analysis found it; null is «none».',
  examples: [{ port: 8080, replicas: 2 }],
});

export const EnvironmentSettings = Type.Object(
  {
    appPath: Type.Optional(
      Type.String({
        maxLength: 500,
        description: 'The `path` of one of the apps found; needed where there are several.',
        examples: ['apps/web'],
      }),
    ),
    ...settings,
  },
  {
    ...closed,
    title: 'EnvironmentSettings',
    description: 'What is absent is as the analysis found it; null is «none».',
    examples: [{ port: 8080, replicas: 2 }],
  },
);

/** Which app it is about is chosen anew, never left open. */
export const resettable = settingKeys.filter((key) => key !== 'appPath');

export const Needs = Type.Enum(['rebuild', 'restart', 'nothing'], {
  description:
    'What it takes until the change is in effect: a deployment that builds, one that does not, or nothing, because nothing runs that it would change.',
});
