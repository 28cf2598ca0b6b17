/**
 * Brings one commit into a mirror. A mirror that is damaged, or has grown too large with what is no longer needed, is
 * built anew beside the old one, once; what is wrong over there is told as it is.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorCode, errorText, Fault } from '../../../fault.ts';
import { type Commit, readCommit } from '../objects/commits.ts';
import { DamagedMirror, readObjects } from '../objects/object-reader.ts';
import { localRef, notThere, type Ref, refspec } from '../refs.ts';
import { GitFailure, runGit } from '../run-git.ts';
import { type Progress, type RemoteGit, RemoteGitFailure } from '../transport/remote-git.ts';
import type { MirrorFolder } from './mirror-folder.ts';

export interface FetchRequest {
  readonly folder: MirrorFolder;
  readonly ref: Ref;
  readonly remote: RemoteGit;
  readonly maxBytes: number;
  readonly maxPacks: number;
  /** Called while it grows; fails where it is too much for all together. */
  readonly watch: () => void;
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly onRebuild: (why: string) => void;
}

export async function fetchMirror(request: FetchRequest): Promise<Commit> {
  const { folder } = request;
  const dir = folder.current();
  if (dir !== undefined) {
    try {
      if (folder.isDamaged(dir)) throw new DamagedMirror('it was found damaged when it was read');
      const commit = await fetchRef(dir, request);
      await repack(dir, request);
      return commit;
    } catch (error) {
      await folder.clearHalfPacks(dir);
      request.signal.throwIfAborted();
      if (!helpsToRebuild(error)) throw faultOf(error);
      request.onRebuild(errorText(error));
    }
  }
  const draft = folder.draft();
  try {
    const commit = await fetchRef(draft, request);
    await folder.adopt(draft);
    return commit;
  } catch (error) {
    await folder.discard(draft);
    request.signal.throwIfAborted();
    throw faultOf(error);
  }
}

async function fetchRef(dir: string, request: FetchRequest): Promise<Commit> {
  const { ref, remote, maxBytes, watch, onProgress, signal } = request;
  try {
    await remote.fetch(dir, [refspec(ref)], { maxBytes, watch, onProgress });
  } catch (error) {
    const isHidden = error instanceof RemoteGitFailure && error.explained.isHidden;
    if (!isHidden || !('sha' in ref)) throw error;
    await fetchFromHistory(dir, ref.sha, request);
  }
  const commit = await readCommit(dir, ref, signal);
  if (!commit || ('sha' in ref && commit.sha !== ref.sha)) throw notThere(ref, 'It does not name a commit.');
  pin(dir, commit.sha);
  return commit;
}

const mostRefs = 20_000;

/**
 * Old servers give only what a branch or tag points at: then the way to a commit is through all their history. The refs
 * themselves are not kept: each would be a file, and a host can make up any number of them.
 */
async function fetchFromHistory(
  dir: string,
  sha: string,
  { remote, maxBytes, watch, onProgress, signal }: FetchRequest,
) {
  const { branches, tags } = await remote.refs();
  if (branches.size + tags.size > mostRefs)
    throw new Fault('repository_too_large', `The repository has more than ${mostRefs} branches and tags.`, {
      hint: 'Deploy a branch instead of a commit, or delete those that are not needed.',
    });
  const all = [
    ...[...branches.keys()].map((name) => `refs/heads/${name}`),
    ...[...tags.keys()].map((name) => `refs/tags/${name}`),
  ];
  await remote.fetch(dir, all, { maxBytes, watch, onProgress, withHistory: true });
  for await (const object of readObjects(dir, [sha], signal)) if (object?.type === 'commit') pin(dir, sha);
}

/** Kept for as long as the mirror is, also when the branch moves on or is overwritten over there. */
export function pin(dir: string, sha: string): void {
  const file = join(dir, localRef({ sha }));
  if (existsSync(file)) return;
  // Git removes folders of refs when it packs them.
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, `${sha}\n`);
  renameSync(`${file}.new`, file);
}

/** Many small packs make reading slow. Larger ones are made of them; nothing is thrown away. */
async function repack(dir: string, { maxPacks, signal }: FetchRequest): Promise<void> {
  const packs = readdirSync(join(dir, 'objects', 'pack')).filter((name) => name.endsWith('.pack'));
  if (packs.length <= maxPacks) return;
  await runGit({ args: ['repack', '-d', '-q', '--geometric=2'], dir, signal });
  await runGit({ args: ['pack-refs', '--all'], dir, signal });
}

function helpsToRebuild(error: unknown): boolean {
  if (error instanceof RemoteGitFailure) return error.explained.mayBeOurs;
  if (error instanceof Fault) return error.code === 'repository_too_large';
  const isTornApart = ['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '');
  return error instanceof DamagedMirror || error instanceof GitFailure || isTornApart;
}

function faultOf(error: unknown): unknown {
  if (error instanceof RemoteGitFailure) return error.explained.fault;
  if (!(error instanceof DamagedMirror)) return error;
  return new Fault('git_failed', 'The repository arrived damaged.', {
    evidence: error.message,
    cause: error,
  });
}
