/** Where the files of a deployment are read from: the mirror of its project's repository, or what was uploaded for it. */
import type { BuildContext, Commit, Mirror, Ref } from '../../../adapters/git/mirrors.ts';
import type { UploadId } from '../../../ids.ts';
import { mirrorKeyOf, sourceOf } from '../../projects/projects.ts';
import { readableRepository, readSource } from '../../projects/read-source.ts';
import type { DeployStepContext } from './step-context.ts';

interface CommitSource {
  readonly rootDirectory: string;
  /** Brings it here where it can be fetched. */
  fetch(want: Ref): Promise<Commit>;
  /** Once it was fetched. */
  open(): Mirror;
  /** With all that belongs to it. */
  gather(sha: string): Promise<BuildContext>;
}

export function commitSource(work: DeployStepContext): Promise<CommitSource> {
  const { uploadId } = work.deployment;
  return uploadId === null ? repositorySource(work) : uploadSource(work, uploadId);
}

async function repositorySource({
  ctx,
  workspaceId,
  environment,
  step,
}: DeployStepContext): Promise<CommitSource> {
  const { signal } = step;
  const repository = await readableRepository(ctx, workspaceId, environment.projectId);
  const source = await sourceOf(ctx, workspaceId, repository);
  const key = mirrorKeyOf(workspaceId, repository.cloneUrl);
  const mirrors = await ctx.mirrors();
  return {
    rootDirectory: repository.rootDirectory,
    fetch: async (want) => {
      const onProgress = ({ fraction, text }: { fraction: number; text: string }) =>
        step.progress(fraction, text);
      return (await mirrors.fetch(key, source, { want, signal, onProgress })).commit;
    },
    open: () => mirrors.open(key),
    gather: (sha) => mirrors.gather(key, source, sha, signal),
  };
}

/** As it was sent: submodules and LFS files are what the working tree had of them. */
async function uploadSource(
  { ctx, workspaceId, environment, step: { signal } }: DeployStepContext,
  id: UploadId,
): Promise<CommitSource> {
  const { rootDirectory } = await readSource(ctx.db, workspaceId, environment.projectId);
  const uploads = await ctx.uploads();
  const place = { owner: workspaceId, id };
  return {
    rootDirectory,
    fetch: (want) => {
      if (!('sha' in want)) throw new Error('an upload has one commit, and no branches');
      return uploads.readCommit(place, want.sha, signal);
    },
    open: () => uploads.open(place),
    gather: async (sha) => {
      const mirror = uploads.open(place);
      return { warnings: [], tar: (request) => mirror.tar(sha, request) };
    },
  };
}
