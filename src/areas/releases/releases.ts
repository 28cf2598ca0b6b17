/**
 * Releases: what was built, with how it runs and the variables of that time. A release is never changed; which of them
 * is live is the environment's to say, and running it the engine's work.
 */
import type { ReleaseSpec } from '../../engine/release-spec.ts';
import type { EnvironmentId } from '../../ids.ts';

export interface ReleasedCommit {
  readonly sha: string;
  readonly message: string;
  readonly author: string;
  readonly branch: string | null;
}

export interface Release extends ReleaseSpec {
  readonly environmentId: EnvironmentId;
  readonly image: string;
  readonly buildKey: string;
  readonly commit: ReleasedCommit;
}
