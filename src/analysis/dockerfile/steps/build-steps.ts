/**
 * `RUN` steps that fetch and build: caches, arguments and secrets. A secret is mounted as a file and read in the same
 * step, so it gets into no layer, no history and no argument list. `env=` of a secret mount would be shorter, but needs
 * a Dockerfile frontend that Docker before 27.3 does not have. As Docker does not look at secrets when it decides
 * whether to reuse a step, a number that changes with them is an argument of that step.
 */

import type { Request } from '../request.ts';
import type { Stage } from '../text/document.ts';
import { copy, packageName, run, variableKey } from '../text/grammar.ts';
import { addHealthCheck } from './health-check.ts';

/** Set it to something else whenever a secret of the build changes. */
export const secretsVersionArgument = 'SECRETS_VERSION';

export interface Cache {
  readonly id: string;
  readonly target: string;
  /** One build at a time, for tools that do not lock their folder. */
  readonly locked?: boolean;
}

function cacheMount(request: Request, cache: Cache): string {
  const id = request.cacheScope === null ? '' : `,id=${request.cacheScope}-${cache.id}`;
  return `type=cache${id},target=${cache.target}${cache.locked ? ',sharing=locked' : ''}`;
}

/** Settings of package managers and of what they download: they count when installing, others only when building. */
const installKeys =
  /^(NPM|NODE_AUTH|PNPM|YARN|BUN|PIP|UV|POETRY|PDM|PIPENV|BUNDLE|GEM|COMPOSER|GO|CARGO|MAVEN|GRADLE|NUGET|HEX|MIX|PUPPETEER|PLAYWRIGHT|CYPRESS|PRISMA|SHARP|ELECTRON)/;

/** Arguments of a stage. Those of the build do not touch the installation, which thus stays cached when they change. */
export function addArguments(stage: Stage, request: Request, step: 'install' | 'build'): void {
  const counts = (key: string) => step === 'build' || installKeys.test(key);
  const keys = request.variables.filter(({ key, secret }) => !secret && counts(key)).map(({ key }) => key);
  for (const key of keys) stage.add(`ARG ${variableKey(key)}`);
  if (request.variables.some(({ secret }) => secret)) {
    stage.add(
      `ARG ${secretsVersionArgument}=0`,
      'A new number makes Docker run the steps below again when a secret has changed',
    );
  }
}

/** A command that may need secrets and profits from caches. */
export function addRun(
  stage: Stage,
  request: Request,
  command: string,
  caches: readonly Cache[],
  why: string,
): void {
  const secrets = request.variables.filter(({ secret }) => secret).map(({ key }) => variableKey(key));
  const mounts = [
    ...caches.map((cache) => cacheMount(request, cache)),
    ...secrets.map((key) => `type=secret,id=${key},required=true`),
  ];
  const exports = secrets.map((key) => `export ${key}="$(cat /run/secrets/${key})"; `).join('');
  stage.add(run(`${exports}${command}`, mounts), why);
}

/** A step of ours that needs no secret. */
export function addPlainRun(
  stage: Stage,
  request: Request,
  command: string,
  caches: readonly Cache[],
  why?: string,
): void {
  stage.add(
    run(
      command,
      caches.map((cache) => cacheMount(request, cache)),
    ),
    why,
  );
}

export function addSystemPackages(stage: Stage, names: readonly string[], why: string): void {
  const unique = [...new Set(names)].sort().map(packageName);
  if (unique.length === 0) return;
  const install = `apt-get update && apt-get install -y --no-install-recommends ${unique.join(' ')}`;
  stage.add(run(`${install} && rm -rf /var/lib/apt/lists/*`), why);
}

/** A user without rights that the image does not bring, and a folder that it may write to. */
export function addUser(stage: Stage, folders: readonly string[]): void {
  const made = ['/app', ...folders].map(quoted).join(' ');
  const user = 'groupadd --gid 10001 app && useradd --uid 10001 --gid 10001 --create-home app';
  stage.add(
    run(`${user} && install -d -o 10001 -g 10001 ${made}`),
    'The app runs as a user without rights, who may write in its own folder only',
  );
}

/** For a shell. The paths were looked at before: there is no quote in them. */
export function quoted(path: string): string {
  return /^[A-Za-z0-9._/@+-]+$/.test(path) ? path : `'${path}'`;
}

/** Manifests of the app that are there; the steps after them stay cached while they do not change. */
export function copyManifests(stage: Stage, { project }: Request, names: readonly string[]): void {
  const found = names.filter((name) => project.files.has(name)).map((name) => project.at(name));
  stage.add(copy(found, './'), 'Manifests only: the next step stays cached while they do not change');
}

export interface ImageProcess {
  readonly port: number;
  /** By number, so that anyone can see it is not root; `null` where it was set before. */
  readonly user?: string | null;
  readonly whyUser?: string;
  readonly healthCheck: Parameters<typeof addHealthCheck>[2];
  readonly argv: readonly string[];
  readonly why: string;
}

/** The end of every image: who runs what, where it listens, and how it is asked whether it is well. */
export function addProcess(stage: Stage, request: Request, process: ImageProcess): number {
  const { port, user = '10001:10001', whyUser, healthCheck, argv, why } = process;
  if (user !== null) stage.add(`USER ${user}`, whyUser);
  stage.add(`EXPOSE ${port}`);
  addHealthCheck(stage, request, healthCheck);
  stage.command(argv, why);
  return port;
}
