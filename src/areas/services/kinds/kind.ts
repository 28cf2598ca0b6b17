/**
 * What each kind of service says of itself: its images, how it is started and checked, how an application reaches it,
 * and which versions may follow each other on the same data. What else a kind can do comes as a property of its own.
 */
import type { ServiceKind } from '../../../analysis/result.ts';
import type { Secret } from '../../../secret.ts';

/** Made once, with the first start; the data knows no others. User and database are called `app` everywhere. */
export interface Credentials {
  readonly password: Secret;
  /** Of the database's own administrator, where that is not the user. */
  readonly adminPassword: Secret;
}

export const appUser = 'app';
export const appDatabase = 'app';

/** How it is asked over TCP whether it takes connections. */
export interface HealthCheck {
  readonly send: Buffer;
  /** A Perl pattern; what it matches is an answer that only a ready one gives. */
  readonly expect: string;
  /** Enough of the answer to know; more is not waited for. */
  readonly maxBytes: number;
}

export type VersionChange =
  | { readonly isAllowed: true }
  | { readonly isAllowed: false; readonly why: string };

export interface Kind {
  readonly kind: ServiceKind;
  readonly title: string;
  /** Not proven against the real image yet. */
  readonly isExperimental: boolean;
  /** From the oldest to the newest; each is a tag of the image. */
  readonly versions: readonly string[];
  readonly defaultVersion: string;
  readonly image: string;
  readonly port: number;
  readonly memoryMb: { readonly least: number; readonly standard: number };
  /** Databases write everything down before they end: SIGKILL would cost a recovery. */
  readonly stopSeconds: number;
  readonly capabilities: readonly string[];
  readonly volumePath: (version: string) => string;
  readonly environment: (credentials: Credentials) => ReadonlyMap<string, Secret>;
  /** Instead of the image's own, for what its own cannot. */
  readonly entrypoint?: readonly string[];
  readonly command: (memoryMb: number, version: string) => readonly string[];
  readonly health: (credentials: Credentials) => HealthCheck;
  /** Variables of the application that get its URL, where no earlier service has them. */
  readonly variables: readonly string[];
  readonly url: (host: string, credentials: Credentials) => Secret;
  /** Of data that `from` ran on, to another of the versions. */
  readonly change: (from: string, to: string) => VersionChange;
}

/**
 * The entry points of the official images begin as root, take the data folder over, and become another user. The first
 * process of the container stays root's: without the right to signal the other one, every stop would be a kill.
 */
export const takesFolderOver = ['CHOWN', 'SETUID', 'SETGID', 'DAC_OVERRIDE', 'FOWNER', 'KILL'] as const;

const allowed: VersionChange = { isAllowed: true };

export function majorOf(version: string): number {
  return Number(version.split('.')[0]);
}

export function onlySameMajor(title: string): Kind['change'] {
  return (from, to) =>
    majorOf(from) === majorOf(to)
      ? allowed
      : {
          isAllowed: false,
          why: `The data of ${title} ${majorOf(from)} cannot be read by ${title} ${majorOf(to)}.`,
        };
}

export function onlyUpwards(title: string, versions: readonly string[]): Kind['change'] {
  return (from, to) =>
    versions.indexOf(to) >= versions.indexOf(from)
      ? allowed
      : { isAllowed: false, why: `${title} ${to} may not read what ${title} ${from} has written.` };
}

/** One after the other: each step changes the data for the next. */
export function oneStepUp(title: string, versions: readonly string[]): Kind['change'] {
  return (from, to) => {
    const step = versions.indexOf(to) - versions.indexOf(from);
    if (step === 0 || step === 1) return allowed;
    const next = versions[versions.indexOf(from) + 1];
    const why =
      step < 0 ? 'never goes back to an older version' : `goes up one version at a time, next to ${next}`;
    return { isAllowed: false, why: `The data of ${title} ${from} ${why}.` };
  };
}
