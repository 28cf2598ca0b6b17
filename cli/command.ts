/** What a command is: data for help, completion and the guide, and a file that is loaded when it runs. */
import type { Session } from './session.ts';

/** That of the package; a test compares. */
export const version = '0.1.0';

export interface Flag {
  readonly name: string;
  readonly short?: string;
  /** What stands for its value in the help; a flag without one is said or not. */
  readonly value?: string;
  readonly isRepeated?: boolean;
  readonly about: string;
}

export interface Command {
  /** One word or two: `deploy`, `env set`. */
  readonly name: string;
  /** As in the help: `<key>`, `[id]`, `<key=value>...`. */
  readonly takes?: string;
  readonly about: string;
  /** Above the commands that begin with it, in the help of all. */
  readonly heading?: string;
  /** More than a line, for its own help. */
  readonly details?: string;
  readonly examples?: readonly string[];
  readonly flags?: readonly Flag[];
  readonly load: () => Promise<Run>;
}

export type Run = (call: Session) => Promise<ExitCode | undefined>;

/** Stable: scripts rely on them. */
export const exitCodes = {
  done: [0, 'It is done; of a deployment: it is live.'],
  error: [1, 'The service refused, or something else went wrong.'],
  usage: [2, 'The command line cannot be used as it is.'],
  signIn: [3, 'Not signed in, or not allowed.'],
  notFound: [4, 'There is no such thing, or it is not yours.'],
  failed: [5, 'The work was begun and has failed.'],
  cancelled: [6, 'The work was cancelled, or overtaken by a newer one.'],
  unreachable: [7, 'Slipway cannot be reached.'],
  detached: [8, 'The work goes on without being watched.'],
} as const;

export type ExitCode = keyof typeof exitCodes;

/** An error that is told as a sentence and what helps. */
export class CliError extends Error {
  readonly hint: string | undefined;
  readonly exitCode: ExitCode;

  constructor(message: string, hint?: string, exitCode: ExitCode = 'error') {
    super(message);
    this.name = 'CliError';
    this.hint = hint;
    this.exitCode = exitCode;
  }
}

export const usageError = (message: string, hint?: string) => new CliError(message, hint, 'usage');

export const commonFlags: readonly Flag[] = [
  { name: 'json', about: 'Print JSON; what is followed, one value a line.' },
  { name: 'context', value: 'NAME', about: 'The installation, as `contexts` lists it.' },
  { name: 'workspace', value: 'ID', about: 'The workspace to work in.' },
  { name: 'project', short: 'p', value: 'NAME', about: 'The project, by name or id.' },
  { name: 'environment', short: 'e', value: 'NAME', about: 'The environment, by name or id.' },
  { name: 'yes', short: 'y', about: 'Answer yes to every question.' },
  { name: 'help', short: 'h', about: 'Show this help.' },
];
