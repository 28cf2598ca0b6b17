/**
 * A Dockerfile while it is being written: stages in order, and why each noteworthy line is there. A stage knows the
 * request, so that the steps which every language needs are methods of it.
 *
 * A secret is mounted as a file and read in the same step, so it gets into no layer, no history and no argument list.
 * `env=` of a secret mount would be shorter, but needs a Dockerfile frontend that Docker before 27.3 does not have. As
 * Docker does not look at secrets when it decides whether to reuse a step, a number that changes with them is an
 * argument of that step.
 */
import { type HealthCheckProgram, healthCheckLine } from './health-check.ts';
import type { Request } from './request.ts';
import {
  baseImageName,
  copy,
  jsonList,
  packageName,
  quoted,
  run,
  variableKey,
  workdir,
  wrong,
} from './text/grammar.ts';

export interface Explanation {
  readonly stage: string;
  /** Counted from 1. */
  readonly line: number;
  readonly why: string;
}

/** Set it to something else whenever a secret of the build changes. */
export const secretsVersionArgument = 'SECRETS_VERSION';

export interface Cache {
  readonly id: string;
  readonly target: string;
  /** One build at a time, for tools that do not lock their folder. */
  readonly locked?: boolean;
}

export interface ImageProcess {
  readonly port: number;
  /** By number, so that anyone can see it is not root; `null` where it was set before. */
  readonly user?: string | null;
  readonly whyUser?: string;
  readonly healthCheck: HealthCheckProgram;
  readonly argv: readonly string[];
  readonly why: string;
}

interface Line {
  readonly text: string;
  readonly why: string | undefined;
}

/** Settings of package managers and of what they download: they count when installing, others only when building. */
const installPrefixes =
  'NPM NODE_AUTH PNPM YARN BUN PIP UV POETRY PDM PIPENV BUNDLE GEM COMPOSER GO CARGO MAVEN GRADLE NUGET HEX MIX PUPPETEER PLAYWRIGHT CYPRESS PRISMA SHARP ELECTRON'.split(
    ' ',
  );
const longestLine = 16_000;

export class Stage {
  readonly name: string;
  readonly #request: Request;
  readonly #lines: Line[] = [];

  constructor(name: string, request: Request) {
    this.name = name;
    this.#request = request;
  }

  get lines(): readonly Line[] {
    return this.#lines;
  }

  /** `text` comes from `grammar.ts`, or is a constant. */
  add(text: string, why?: string): this {
    this.#lines.push({ text, why });
    return this;
  }

  workdir(path: string): this {
    return this.add(workdir(path));
  }

  copy(sources: readonly string[], target: string, why?: string, options: readonly string[] = []): this {
    return this.add(copy(sources, target, options), why);
  }

  /** Manifests of the app that are there; the steps after them stay cached while they do not change. */
  copyManifests(names: readonly string[]): this {
    const { project } = this.#request;
    const found = names.filter((name) => project.files.has(name)).map((name) => project.at(name));
    return this.copy(found, './', 'Manifests only: the next step stays cached while they do not change');
  }

  /** Values of ours only: names are constants, values are numbers or words without spaces. */
  env(values: Readonly<Record<string, string | number>>, why?: string): this {
    const pairs = Object.entries(values).map(([key, value]) => `${key}=${envValue(String(value))}`);
    return pairs.length === 0 ? this : this.add(`ENV ${pairs.join(' \\\n    ')}`, why);
  }

  /** Arguments of a stage. Those of the build do not touch the installation, which thus stays cached when they change. */
  arguments(step: 'install' | 'build'): this {
    const { variables } = this.#request;
    const counts = (key: string) =>
      step === 'build' || installPrefixes.some((prefix) => key.startsWith(prefix));
    for (const { key, secret } of variables) if (!secret && counts(key)) this.add(`ARG ${variableKey(key)}`);
    return variables.some(({ secret }) => secret)
      ? this.add(
          `ARG ${secretsVersionArgument}=0`,
          'A new number makes Docker run the steps below again when a secret has changed',
        )
      : this;
  }

  /** A command that may need secrets and profits from caches. */
  run(command: string, why: string, caches: readonly Cache[] = []): this {
    const secrets = this.#request.variables.filter(({ secret }) => secret).map(({ key }) => variableKey(key));
    const mounts = secrets.map((key) => `type=secret,id=${key},required=true`);
    const exports = secrets.map((key) => `export ${key}="$(cat /run/secrets/${key})"; `).join('');
    return this.add(run(`${exports}${command}`, [...this.#cacheMounts(caches), ...mounts]), why);
  }

  /** A step of ours that needs no secret. */
  plainRun(command: string, why?: string, caches: readonly Cache[] = []): this {
    return this.add(run(command, this.#cacheMounts(caches)), why);
  }

  #cacheMounts(caches: readonly Cache[]): readonly string[] {
    const { cacheScope } = this.#request;
    return caches.map(({ id, target, locked }) => {
      const scoped = cacheScope === null ? '' : `,id=${cacheScope}-${id}`;
      return `type=cache${scoped},target=${target}${locked ? ',sharing=locked' : ''}`;
    });
  }

  systemPackages(names = this.#request.systemPackages, why = 'Debian packages that were asked for'): this {
    const unique = [...new Set(names)].sort().map(packageName);
    if (unique.length === 0) return this;
    const install = `apt-get update && apt-get install -y --no-install-recommends ${unique.join(' ')}`;
    return this.add(run(`${install} && rm -rf /var/lib/apt/lists/*`), why);
  }

  /** A user without rights that the image does not bring, and a folder that it may write to. */
  user(folders: readonly string[]): this {
    const made = ['/app', ...folders].map(quoted).join(' ');
    const user = 'groupadd --gid 10001 app && useradd --uid 10001 --gid 10001 --create-home app';
    return this.add(
      run(`${user} && install -d -o 10001 -g 10001 ${made}`),
      'The app runs as a user without rights, who may write in its own folder only',
    );
  }

  healthCheck(by: HealthCheckProgram): this {
    const { text, why } = healthCheckLine(this.#request, by);
    return this.add(text, why);
  }

  command(argv: readonly string[], why: string): this {
    return this.add(`CMD ${jsonList(argv)}`, why);
  }

  /** The end of every image: who runs what, where it listens, and how it is asked whether it is well. */
  process({ port, user = '10001:10001', whyUser, healthCheck, argv, why }: ImageProcess): number {
    if (user !== null) this.add(`USER ${user}`, whyUser);
    this.add(`EXPOSE ${port}`).healthCheck(healthCheck).command(argv, why);
    return port;
  }
}

export class Document {
  readonly #request: Request;
  readonly #stages: Stage[] = [];

  constructor(request: Request) {
    this.#request = request;
  }

  /** A stage of its own name; `from` is an image, or the name of a stage before. */
  stage(name: string, from: string, why: string): Stage {
    return this.#add(name, from, why, ` AS ${name}`);
  }

  /** The one that becomes the image. */
  runtime(from: string, why: string): Stage {
    return this.#add('runtime', from, why, '');
  }

  #add(name: string, from: string, why: string, as: string): Stage {
    const base = this.#stages.some((each) => each.name === from) ? from : baseImageName(from);
    const stage = new Stage(name, this.#request).add(`FROM ${base}${as}`, why);
    this.#stages.push(stage);
    return stage;
  }

  render(): { readonly text: string; readonly explanation: readonly Explanation[] } {
    const explanation: Explanation[] = [];
    const text: string[] = [];
    for (const stage of this.#stages) {
      if (text.length > 0) text.push('');
      for (const { text: line, why } of stage.lines) {
        if (why !== undefined) explanation.push({ stage: stage.name, line: text.length + 1, why });
        const lines = line.split('\n');
        // Docker's parser refuses longer ones with a message that helps nobody.
        if (lines.some((each) => each.length > longestLine))
          throw wrong('app', 'A name or command is too long.');
        text.push(...lines);
      }
    }
    return { text: `${text.join('\n')}\n`, explanation };
  }
}

function envValue(value: string): string {
  if (/^[A-Za-z0-9_.,:/+@%-]+(?::\$PATH)?$/.test(value)) return value;
  if (/^[A-Za-z0-9_.,:/+@% =-]+$/.test(value)) return `"${value}"`;
  throw new Error(`not a value for ENV: ${value}`);
}
