/** One run of a command: what was said, the terminal, and whom it talks to. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  all,
  type ClientOptions,
  ClientSession,
  createClient,
  type Environment,
  type Operations,
  type Project,
} from '../sdk/index.ts';
import { CliError, usageError, version } from './command.ts';
import { type Context, readContexts, tokenStoreOf } from './contexts.ts';
import { proving } from './proving.ts';
import type { Terminal } from './terminal.ts';

export type FlagValues = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

/** What `slipway init` writes into a folder; it tells no secret and may be committed. */
export interface Link {
  readonly url: string;
  readonly projectId: string;
  readonly environmentId: string;
}

export const linkFile = '.slipway.json';

export class Session {
  readonly args: readonly string[];
  readonly terminal: Terminal;
  readonly #flags: FlagValues;
  #client: Operations | undefined;

  constructor(args: readonly string[], flags: FlagValues, terminal: Terminal) {
    this.args = args;
    this.#flags = flags;
    this.terminal = terminal;
  }

  /** Where the person stands: npm changes the folder, and says where it was called. */
  get folder(): string {
    const { INIT_CWD, npm_lifecycle_event } = process.env;
    return npm_lifecycle_event === 'cli' && INIT_CWD ? INIT_CWD : process.cwd();
  }

  has(flag: string): boolean {
    return this.#flags[flag] === true;
  }

  text(flag: string): string | undefined {
    const value = this.#flags[flag];
    return typeof value === 'string' ? value : undefined;
  }

  texts(flag: string): readonly string[] {
    const value = this.#flags[flag];
    return Array.isArray(value) ? value.map(String) : typeof value === 'string' ? [value] : [];
  }

  number(flag: string): number | undefined {
    const text = this.text(flag);
    if (text === undefined) return undefined;
    if (!/^\d+$/.test(text)) throw usageError(`--${flag} must be a whole number, not «${text}».`);
    return Number(text);
  }

  /** The argument at a place that must be there. */
  arg(at: number, name: string): string {
    const value = this.args[at];
    if (value === undefined || value === '') throw usageError(`${name} is missing.`, 'See --help.');
    return value;
  }

  /** What cannot be taken back is asked for, or said with --yes. */
  async confirmed(question: string): Promise<void> {
    if (this.has('yes')) return;
    if (!this.terminal.canAsk) throw usageError(`${question} Say so with --yes.`);
    if (!(await this.terminal.confirm(question)))
      throw new CliError('Nothing was done.', undefined, 'cancelled');
  }

  /** The installation: by the variables of a CI, by --context, or the one that was used last. */
  target(): { readonly name: string | undefined; readonly context: Context } {
    const { SLIPWAY_URL, SLIPWAY_TOKEN } = process.env;
    const asked = this.text('context');
    if (asked === undefined && SLIPWAY_URL)
      return {
        name: undefined,
        context: { url: SLIPWAY_URL, ...(SLIPWAY_TOKEN && { token: SLIPWAY_TOKEN }) },
      };
    const { contexts, current } = readContexts();
    const name = asked ?? current;
    const context = name === undefined ? undefined : contexts[name];
    if (name === undefined || context === undefined) {
      const known = Object.keys(contexts).join(', ');
      if (asked === undefined)
        throw new CliError(
          'You are not signed in.',
          'Run `slipway login`, or set SLIPWAY_URL and SLIPWAY_TOKEN.',
          'signIn',
        );
      throw new CliError(
        `There is no context «${asked}».`,
        known ? `There are: ${known}.` : 'Run `slipway login`.',
        'notFound',
      );
    }
    return { name, context };
  }

  get client(): Operations {
    this.#client ??= proving(createClient(this.clientOptions()), this.terminal);
    return this.#client;
  }

  clientOptions(): ClientOptions {
    const { name, context } = this.target();
    const auth = context.token ?? (name === undefined ? undefined : new ClientSession(tokenStoreOf(name)));
    const workspace = this.text('workspace') ?? process.env.SLIPWAY_WORKSPACE ?? context.workspace;
    return { url: context.url, auth, workspace, headers };
  }

  link(): Link | undefined {
    const folder = this.linkedFolder;
    return folder === undefined ? undefined : readLink(join(folder, linkFile));
  }

  /** This folder, or the nearest above it that `slipway init` has linked. */
  get linkedFolder(): string | undefined {
    for (let at = this.folder; ; at = dirname(at)) {
      if (existsSync(join(at, linkFile))) return at;
      if (dirname(at) === at) return undefined;
    }
  }

  async project(): Promise<Project> {
    const asked = this.text('project') ?? process.env.SLIPWAY_PROJECT;
    const link = this.link();
    if (asked === undefined && link) return this.client.getProject({ id: link.projectId });
    const projects = await collect(all(this.client.listProjects));
    if (asked !== undefined) return named(projects, asked, 'project', 'See `slipway status --all`.');
    const [only, another] = projects;
    if (only && !another) return only;
    throw usageError(
      'Which project?',
      'Run `slipway init` in its folder, or name it with --project (and --environment).',
    );
  }

  async environment(): Promise<Environment> {
    const asked = this.text('environment') ?? process.env.SLIPWAY_ENVIRONMENT;
    const link = (this.text('project') ?? process.env.SLIPWAY_PROJECT) ? undefined : this.link();
    if (asked === undefined && link) return this.client.getEnvironment({ id: link.environmentId });
    const { id: projectId, name } = await this.project();
    const environments = await collect(all((page) => this.client.listEnvironments({ projectId, ...page })));
    if (asked !== undefined) return named(environments, asked, 'environment', `It would be one of ${name}.`);
    const [only, another] = environments;
    if (only && !another) return only;
    const names = environments.map((each) => each.name).join(', ');
    throw usageError(
      `Which environment of ${name}?`,
      names ? `Name it with --environment: ${names}.` : 'There is none yet: run `slipway init`.',
    );
  }
}

export const headers = { 'user-agent': `slipway-cli/${version} node/${process.versions.node}` };

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

interface Named {
  readonly id: string;
  readonly name: string;
  readonly slug?: string;
}

/** By id, name or slug. */
export function named<T extends Named>(all: readonly T[], asked: string, what: string, hint: string): T {
  const found =
    all.find(({ id }) => id === asked) ??
    all.find(({ name }) => name === asked) ??
    all.find(({ slug }) => slug === asked);
  if (found) return found;
  const known = all.map(({ name }) => name).join(', ');
  throw new CliError(`There is no ${what} «${asked}».`, known ? `There are: ${known}.` : hint, 'notFound');
}

function readLink(file: string): Link {
  try {
    const { url, projectId, environmentId } = Object(JSON.parse(readFileSync(file, 'utf8')));
    if (typeof projectId === 'string' && typeof environmentId === 'string')
      return { url: String(url), projectId, environmentId };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new CliError(
    `${file} is not what \`slipway init\` wrote.`,
    'Remove it, and run `slipway init` again.',
  );
}
