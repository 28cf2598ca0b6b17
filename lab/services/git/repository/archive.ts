/** A commit as a `tar.gz`, streamed. */
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type BareRepository, exitCode, GitError } from './git.ts';

/** Ends git when the reader goes; rejects when either of them failed. */
export async function writeArchive(
  repository: BareRepository,
  commit: string,
  folder: string,
  to: Writable,
): Promise<void> {
  // Compressed here and not by git, which would take the command for it from the repository's configuration.
  const child = repository.start(['archive', '--format=tar', `--prefix=${folder}/`, commit]);
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  child.stdin.end();
  const ended = exitCode(child);
  // The end of the output is passed on only when git says that it was all of it.
  const whole = async function* () {
    yield* child.stdout;
    const code = await ended;
    if (code !== 0) throw new GitError('archive', code, said);
  };
  try {
    await pipeline(whole, createGzip(), to);
  } finally {
    repository.git.end(child);
  }
}
