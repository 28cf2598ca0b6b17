/** Sends the working tree as it is; what becomes of it is a deployment like any other. */
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { ConnectionError, type Deployment, type Environment } from '../../sdk/index.ts';
import { CliError } from '../command.ts';
import type { Session } from '../session.ts';
import { tarOf } from '../tar.ts';
import { git, listTree } from '../working-tree.ts';

const drawEveryMs = 120;

export async function sendWorkingTree(call: Session, { id }: Environment): Promise<Deployment> {
  const { terminal } = call;
  // Paths in the settings of a project count from the root of its repository.
  const folder =
    (await git(call.folder, 'rev-parse', '--show-toplevel')) || (call.linkedFolder ?? call.folder);
  const paths = await listTree(folder);
  if (paths.length === 0)
    throw new CliError(`There is nothing to send in ${folder}.`, 'Git ignores all of it, or it is empty.');
  const message = call.text('message') ?? (await describe(folder));
  const packing = new AbortController();
  let bytes = 0;
  const gzip = createGzip();
  // The reason why a file could not be read, rather than that the connection broke off.
  pipeline(Readable.from(tarOf(folder, paths)), gzip).catch((error: unknown) => {
    // Nobody takes any more of it: the answer says why, and must not be broken off.
    if (Object(error).code === 'ERR_STREAM_PREMATURE_CLOSE') return;
    packing.abort(error instanceof CliError ? error : unreadable(error));
  });
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of gzip) {
      bytes += chunk.length;
      yield chunk;
    }
  }
  const tell = () => process.stdout.write(`\r\x1b[K${terminal.dim(`sending, ${sizeOf(bytes)} so far`)}`);
  const drawing = terminal.isWatched ? setInterval(tell, drawEveryMs) : undefined;
  try {
    const body = ReadableStream.from(counted());
    return await call.client.deployUpload({ id, message, body }, { signal: packing.signal });
  } catch (error) {
    // The service answers before it closes; a proxy before it may not.
    if (!(error instanceof ConnectionError) || bytes === 0) throw error;
    throw new CliError(
      `The connection broke off after ${sizeOf(bytes)} were sent.`,
      'Try again. If it stays so, the service or a proxy before it may take less: SLIPWAY_LIMIT_UPLOAD_MB.',
      'unreachable',
    );
  } finally {
    clearInterval(drawing);
    if (drawing) process.stdout.write('\r\x1b[K');
    terminal.say(
      `Sent ${paths.length} ${paths.length === 1 ? 'file' : 'files'} of ${folder}, ${sizeOf(bytes)}.`,
    );
  }
}

function unreadable(error: unknown): CliError {
  return new CliError(`The files cannot be read: ${error instanceof Error ? error.message : String(error)}`);
}

const sizeOf = (bytes: number) =>
  bytes < 100_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;

/** What stands in place of the message of a commit, so that two of them can be told apart. */
async function describe(folder: string): Promise<string> {
  const [sha, branch, changes] = await Promise.all([
    git(folder, 'rev-parse', '--short', 'HEAD'),
    git(folder, 'branch', '--show-current'),
    git(folder, 'status', '--porcelain'),
  ]);
  if (!sha) return `Working tree of ${basename(folder)}`;
  const count = changes === '' ? 0 : changes.split('\n').length;
  const changed = count === 0 ? 'unchanged' : `${count} ${count === 1 ? 'change' : 'changes'}`;
  return `Working tree at ${sha}${branch ? ` (${branch})` : ''}, ${changed}`.slice(0, 500);
}
