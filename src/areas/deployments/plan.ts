/**
 * What will be built and run: the analysis of the commit, with the user's settings on top. Pure, and shown with the
 * deployment, so that nobody has to guess what Slipway made of a repository.
 */
import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import type { AnalysisResult, App } from '../../analysis/result.ts';
import type { PlannedRun, RunPlan, RunProcess } from '../../engine/release-spec.ts';
import { Fault } from '../../fault.ts';
import type { EnvironmentSettings } from '../environments/environments.ts';
import { impossibleIn } from '../environments/impossible-values.ts';

/** What stands for an app where the analysis found none, and the user said how it runs. */
const bareApp: App = {
  path: '.',
  name: 'app',
  language: 'unknown',
  framework: null,
  packageManager: null,
  versions: {},
  installCommand: null,
  buildCommand: null,
  startCommand: null,
  releaseCommand: null,
  staticOutput: null,
  port: null,
  healthPath: null,
  processes: [],
  dockerfile: null,
  volumes: [],
  confidence: 0,
};

/** The app that the environment is about, as it is in this commit. */
export function chooseApp({ apps }: AnalysisResult, { appPath, ...settings }: EnvironmentSettings): App {
  if (appPath !== undefined) {
    const app = apps.find(({ path }) => path === appPath);
    if (app) return app;
    throw new Fault('app_not_found', `There is no app in «${appPath}» in this commit any more.`, {
      hint: 'Deploy a commit that has it, or set the environment up anew for the folder that it moved to.',
      evidence: `found: ${apps.map(({ path }) => path).join(', ') || 'nothing that runs'}`,
    });
  }
  const [only] = apps;
  if (only && apps.length === 1) return only;
  if (settings.dockerfilePath || settings.startCommand || settings.staticOutput) return bareApp;
  throw new Fault('app_not_found', 'Nothing was found in this commit that could be run.', {
    hint: 'Set `startCommand`, `dockerfilePath` or `staticOutput` for the environment.',
  });
}

export type BuildSource =
  | { readonly kind: 'dockerfile'; readonly path: string; readonly target: string | null }
  | { readonly kind: 'generated' };

export function buildSourceOf(app: App, settings: EnvironmentSettings): BuildSource {
  const set = settings.dockerfilePath;
  const path = set === undefined ? (app.dockerfile?.path ?? null) : set;
  if (path === null) return { kind: 'generated' };
  return { kind: 'dockerfile', path, target: settings.dockerfileTarget ?? null };
}

export function plannedRunOf(
  app: App,
  settings: EnvironmentSettings,
  variables: AnalysisResult['variables'],
): PlannedRun {
  const { health = {} } = settings;
  const isOwn = buildSourceOf(app, settings).kind === 'dockerfile';
  return {
    port: settings.port ?? app.port,
    health: {
      path: health.path !== undefined ? health.path : orFound(settings.healthPath, app.healthPath),
      port: health.port ?? null,
      timeoutSeconds: health.timeoutSeconds ?? 5,
      startSeconds: health.startSeconds ?? 60,
    },
    // A generated image starts it by itself.
    startCommand: isOwn ? (settings.startCommand ?? null) : null,
    releaseCommand: orFound(settings.releaseCommand, app.releaseCommand),
    processes: processesOf(app, settings),
    replicas: settings.replicas ?? 1,
    spread: settings.spread ?? 'even',
    memoryMb: settings.memoryMb ?? null,
    cpus: settings.cpus ?? null,
    volumes: settings.volumes ?? foundVolumes(app),
    drainSeconds: settings.drainSeconds ?? 30,
    stopSeconds: settings.stopSeconds ?? 10,
    holdSeconds: settings.holdSeconds ?? 30,
    isRoot: null,
    plainKeys: [],
    askedOfServices: variables
      .filter(({ given, apps }) => given === 'service' && apps.includes(app.path))
      .map(({ key }) => key),
    requiredKeys: variables
      .filter(({ required, build, apps }) => required && !build && apps.includes(app.path))
      .map(({ key }) => key),
  };
}

/** The port that the image exposes counts where neither the user nor the analysis knows better. */
export function runPlanOf(
  planned: PlannedRun,
  image: { readonly exposedPorts: readonly number[]; readonly user: string },
): RunPlan {
  const [exposed] = image.exposedPorts;
  return {
    ...planned,
    port: planned.port ?? exposed ?? 8080,
    isRoot: planned.isRoot ?? /^(0|root)?(:|$)/.test(image.user),
  };
}

/** Absent is as the analysis found it; null is «none». */
function orFound(set: string | null | undefined, found: string | null): string | null {
  return set === undefined ? found : set;
}

function processesOf(app: App, { processes = {} }: EnvironmentSettings): RunProcess[] {
  const found = new Map(app.processes.map((each) => [each.name, { ...each, replicas: 1 }]));
  for (const [name, said] of Object.entries(processes)) {
    const before = found.get(name);
    const command = said.command ?? before?.command;
    if (command === undefined) {
      throw new Fault('invalid_input', `The process «${name}» has no command.`, {
        errors: [{ path: `settings.processes.${name}.command`, message: 'is needed' }],
      });
    }
    const schedule = said.schedule ?? before?.schedule ?? null;
    const kind = schedule === null ? 'worker' : 'cron';
    found.set(name, { name, kind, command, schedule, replicas: said.replicas ?? before?.replicas ?? 1 });
  }
  return [...found.values()]
    .filter(({ replicas }) => replicas > 0)
    .sort((one, other) => one.name.localeCompare(other.name));
}

/** Named after their paths, so that the same path keeps its data from release to release. */
function foundVolumes(app: App): { name: string; path: string }[] {
  const home = app.path === '.' || app.path === '' ? '/app' : `/app/${app.path}`;
  return app.volumes.map((path) => {
    const whole = path.startsWith('/') ? path : `${home}/${path.replace(/^\.\//, '')}`;
    const plain = posix.normalize(whole).replace(/(?<=.)\/$/, '');
    return { name: createHash('sha256').update(whole).digest('hex').slice(0, 12), path: plain };
  });
}

/** What a repository's files say is held against the same rules as what a person sets, and before anything is built. */
export function requirePossible(source: BuildSource, run: PlannedRun): void {
  const { startCommand, releaseCommand, volumes, health, port } = run;
  const named = run.processes.map(({ name, command, schedule }) => {
    return [name, { command, ...(schedule !== null && { schedule }) }] as const;
  });
  const dockerfilePath = source.kind === 'dockerfile' ? source.path : null;
  const values = { startCommand, releaseCommand, dockerfilePath, volumes, healthPath: health.path };
  const errors = impossibleIn({ ...values, processes: Object.fromEntries(named) });
  if (port !== null && !(Number.isInteger(port) && port >= 1 && port <= 65_535))
    errors.push({ path: 'settings.port', message: 'must be from 1 to 65535' });
  const [first] = errors;
  if (!first) return;
  throw new Fault('invalid_input', `This could never work: ${first.path} ${first.message}.`, {
    hint: 'Change it in the repository, or set the field for the environment.',
    evidence: errors.map(({ path, message }) => `${path} ${message}`).join('\n'),
    errors,
  });
}

export interface BuildKeyParts {
  /** Of the commit: every file in it. */
  readonly tree: string;
  readonly source: BuildSource;
  /** The generated one; empty where the app brings its own. */
  readonly dockerfile: string;
  readonly dockerignore: string;
  readonly buildArgs: Readonly<Record<string, string>>;
  /** Changes with the secrets of the build, and says nothing about them. */
  readonly secretsVersion: string;
}

/** The same key is the same image: it is not built again. */
export function buildKeyOf(parts: BuildKeyParts): string {
  const { tree, source, dockerfile, dockerignore, buildArgs, secretsVersion } = parts;
  const args = Object.entries(buildArgs).sort(([one], [other]) => (one < other ? -1 : 1));
  const text = JSON.stringify([1, tree, source, dockerfile, dockerignore, args, secretsVersion]);
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
