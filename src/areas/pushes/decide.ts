/** What a push means for one environment. Pure: the same push and the same environment give the same answer. */
import { Globs } from '../../glob.ts';

export interface Push {
  readonly branch: string | null;
  readonly sha: string | null;
  readonly isDeleted: boolean;
  /** Of the newest commit; null where nobody said. */
  readonly message: string | null;
  /** Null where they are not known in full: then any of them may be among them. */
  readonly changedPaths: readonly string[] | null;
  /**
   * Whether the branch is at that commit now, as the repository itself says. A delivery proves only that it was once: it
   * can be sent again by anyone who has seen it.
   */
  readonly isCurrent: 'yes' | 'no' | 'unknown';
}

export interface PushedEnvironment {
  readonly branch: string;
  readonly autoDeploy: boolean;
  readonly watchPaths: readonly string[];
  readonly decidedSha: string | null;
  readonly hasServer: boolean;
  readonly isStopped: boolean;
}

export const reasons = {
  deployed: 'The commit is being deployed.',
  branch_deleted: 'The branch was deleted.',
  no_branch: 'No branch was pushed to: a tag, for example.',
  other_branch: 'The environment follows another branch.',
  environment_off: 'Deploying on push is switched off.',
  no_server: 'The environment stands on no server yet.',
  environment_stopped: 'The environment is stopped; a start or a deployment by hand wakes it.',
  skip_requested: 'The message of the commit asks not to be deployed.',
  paths_not_watched: 'Nothing changed under the paths that are watched.',
  duplicate: 'The commit was decided on before.',
  outdated: 'The branch is at another commit by now; what it is at is looked at next.',
  unconfirmed: 'The repository did not say in time what the branch is at; it is asked again.',
  no_environment: 'The project has no environment.',
  no_push: 'The provider told of something that is not a push.',
  other_repository: 'The push is of another repository than the project’s.',
  signature_invalid: 'The signature is missing or wrong, so nothing of it was read.',
  unreadable: 'The body is not what the provider sends.',
} as const;

export type Reason = keyof typeof reasons;

export function decide(environment: PushedEnvironment, push: Push): Reason {
  if (push.branch === null) return 'no_branch';
  if (environment.branch !== push.branch) return 'other_branch';
  if (push.isDeleted || push.sha === null) return 'branch_deleted';
  if (!environment.autoDeploy) return 'environment_off';
  if (environment.decidedSha === push.sha) return 'duplicate';
  if (!environment.hasServer) return 'no_server';
  if (environment.isStopped) return 'environment_stopped';
  if (push.isCurrent !== 'yes') return push.isCurrent === 'no' ? 'outdated' : 'unconfirmed';
  if (asksToSkip(push.message)) return 'skip_requested';
  if (!isWatched(environment.watchPaths, push.changedPaths)) return 'paths_not_watched';
  return 'deployed';
}

/** As the providers' own pipelines read it. */
function asksToSkip(message: string | null): boolean {
  return message !== null && /\[(skip (ci|deploy)|(ci|deploy) skip|no ci)\]/i.test(message);
}

/** So much matching takes a few hundredths of a second; a push of hundreds of thousands of paths could take minutes. */
const mostSteps = 5_000_000;

/**
 * A folder watches what is under it; anything else is a pattern as in `.gitignore`. A push that is too large to be
 * looked at counts as watched: one deployment too many is the smaller harm.
 */
function isWatched(watchPaths: readonly string[], changed: readonly string[] | null): boolean {
  if (watchPaths.length === 0 || changed === null) return true;
  const folders = watchPaths.map((path) => path.replace(/\/+$/, ''));
  const watched = new Globs(
    folders.flatMap((path) => [path, `${path}/**`]),
    { dot: true, mostSteps },
  );
  return changed.some((path) => watched.matches(path) || watched.isSpent);
}
