/** The files of a commit, as one process of git lists them. Nothing is followed: a link is a name with a content. */
import { Fault } from '../../../fault.ts';
import { Recent } from '../../../recent.ts';
import { Turns } from '../../../turns.ts';
import { startGit } from '../run-git.ts';
import { DamagedMirror } from './object-reader.ts';

export interface TreeEntry {
  /** With `/` between its parts. Bytes that are not UTF-8 show as the replacement character. */
  readonly path: string;
  readonly type: 'file' | 'symlink' | 'submodule';
  readonly isExecutable: boolean;
  /** In bytes; 0 for a submodule. */
  readonly size: number;
  /** Of the blob, or of the submodule's commit. */
  readonly oid: string;
  /** The path as it is, where it is not UTF-8. */
  readonly rawPath?: Buffer;
}

export interface Listing {
  readonly entries: readonly TreeEntry[];
  /** False where there were more than `maxEntries`, or longer paths than are held in memory. */
  readonly isComplete: boolean;
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const deepestBytes = 4_096;
const deepestFolders = 200;
/** Of all paths together: a tree of a few kilobytes can list gigabytes of them. */
const mostPathBytes = 32 * 1024 * 1024;

/** The caller's signal, which also ends a look that takes too long. */
export function readLimit(ms: number, outer?: AbortSignal): { signal: AbortSignal; done: () => void } {
  const own = new AbortController();
  const late = () =>
    new Fault('repository_too_large', `The files of the commit could not be listed within ${ms / 1000} s.`, {
      hint: 'It has more folders than a project has; take them out of the repository.',
    });
  const timer = setTimeout(() => own.abort(late()), ms);
  const signal = outer ? AbortSignal.any([outer, own.signal]) : own.signal;
  return { signal, done: () => clearTimeout(timer) };
}

/** What is analysed is built next, of the same files. Large ones are not kept: they cost memory, and git is quick beside them. */
const listings = new Recent<Listing>(8);
const mostKeptBytes = 256 * 1024;

/**
 * A tree can name itself a thousand times over, so counting has to stop the listing, not follow it. Where no file is in
 * all those folders there is nothing to count, and time stops it.
 */
export async function listTree(
  dir: string,
  tree: string,
  options: {
    readonly maxEntries: number;
    readonly readMs: number;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<Listing> {
  const { maxEntries, readMs } = options;
  options.signal?.throwIfAborted();
  const kept = listings.get(`${dir} ${tree}`);
  if (kept && kept.entries.length <= maxEntries) return kept;
  const { signal, done } = readLimit(readMs, options.signal);
  const args = ['ls-tree', '-r', '-z', '-l', '--full-tree', tree];
  const git = startGit({ args, dir, signal });
  git.stdin.end();
  const ended = git.ended;
  ended.catch(() => undefined);
  const entries: TreeEntry[] = [];
  let rest: Buffer = Buffer.alloc(0);
  let left = mostPathBytes;
  try {
    for await (const chunk of git.stdout) {
      const bytes: Buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      let from = 0;
      for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, from)) {
        left -= end - from;
        if (entries.length >= maxEntries || left < 0) return { entries, isComplete: false };
        entries.push(parseEntry(bytes.subarray(from, end)));
        from = end + 1;
      }
      rest = Buffer.from(bytes.subarray(from));
      if (rest.length > deepestBytes * 2) throw malformed('a path is too long');
    }
    const code = await ended;
    signal.throwIfAborted();
    if (code !== 0) throw new DamagedMirror(git.said().trim() || 'git could not list the files');
    const listing: Listing = { entries, isComplete: true };
    if (mostPathBytes - left <= mostKeptBytes) listings.set(`${dir} ${tree}`, listing);
    return listing;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    done();
    git.kill();
  }
}

/** `100644 blob <id> <size>\t<path>` */
function parseEntry(record: Buffer): TreeEntry {
  const tab = record.indexOf(9);
  const [mode = '', kind = '', oid = '', size = ''] = record.subarray(0, tab).toString('latin1').split(/ +/);
  if (tab < 0 || !/^[0-9a-f]{40}$/.test(oid)) throw new DamagedMirror('git listed something unknown');
  if (size === 'BAD') throw new DamagedMirror(`${oid} is missing`);
  const raw = record.subarray(tab + 1);
  const path = textOf(raw);
  const type = kind === 'commit' ? 'submodule' : mode === '120000' ? 'symlink' : 'file';
  return {
    path: path ?? raw.toString('utf8'),
    type,
    isExecutable: mode === '100755',
    size: type === 'submodule' ? 0 : Number(size),
    oid,
    ...(path === undefined ? { rawPath: Buffer.from(raw) } : {}),
  };
}

function textOf(bytes: Buffer): string | undefined {
  // Decoding is twice as fast where it may replace; only what then looks replaced is looked at again.
  const text = bytes.toString('utf8');
  if (!text.includes('\ufffd')) return text;
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Git refuses such trees at a checkout; we read without one and have to look ourselves. A link and a folder of the same
 * name would send what is unpacked later to wherever the link points. Takes turns with the rest of the service.
 */
export async function checkPaths(entries: readonly TreeEntry[]): Promise<void> {
  const taken = new Set<string>();
  const turns = new Turns();
  for (const entry of entries) {
    const turn = turns.next();
    if (turn) await turn;
    const path = keyOf(entry);
    const parts = (entry.rawPath?.toString('latin1') ?? path).split('/');
    if (parts.length > deepestFolders) throw malformed('folders are nested too deep');
    if (path.length > deepestBytes) throw malformed('a path is too long');
    if (parts.some((part) => part === '' || part === '.' || part === '..' || part.toLowerCase() === '.git'))
      throw malformed(`the path ${JSON.stringify(entry.path)} is not allowed`);
    if (taken.has(path)) throw malformed(`${JSON.stringify(entry.path)} is there twice`);
    taken.add(path);
  }
  for (const entry of entries) {
    const turn = turns.next();
    if (turn) await turn;
    const path = keyOf(entry);
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1))
      if (taken.has(path.slice(0, at)))
        throw malformed(`${JSON.stringify(entry.path)} lies below something that is not a folder`);
  }
}

/** One text for each path, whatever its bytes are. */
function keyOf({ path, rawPath }: TreeEntry): string {
  return rawPath ? `\0${rawPath.toString('latin1')}` : path;
}

function malformed(why: string): Fault {
  return new Fault('git_failed', 'The commit has a malformed tree, which is not unpacked.', {
    evidence: why,
  });
}
