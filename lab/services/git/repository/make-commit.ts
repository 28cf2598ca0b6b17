/** Makes commits inside the host, through `git fast-import`: one process, and nothing is ever checked out. */
import { once } from 'node:events';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal } from '../registry.ts';
import { type BareRepository, exitCode, GitError, ignoreBrokenPipe } from './git.ts';
import { isPlainName, resolveCommit } from './refs.ts';
import { entriesAt, isTreePath } from './trees.ts';

export interface Author {
  readonly name: string;
  readonly email: string;
  /** ISO 8601; now, if not given. */
  readonly date?: string;
}

export interface NewCommit {
  readonly branch: string;
  readonly message: string;
  /** The whole text by path; `null` takes the file, or the folder, away. */
  readonly files: Readonly<Record<string, string | null>>;
  readonly author?: Author;
}

interface Change {
  readonly path: string;
  readonly mode: string;
  readonly content: () => Buffer;
}

/** The same folder gives the same commit on every machine. */
const firstAuthor: Author = { name: 'Lab', email: 'lab@lab.test', date: '2024-01-01T00:00:00Z' };

/** A branch that is not there yet begins at the default branch. */
export async function makeCommit(
  repository: BareRepository,
  input: NewCommit,
  author: Author,
): Promise<string> {
  if (!isPlainName(input.branch)) throw new Refusal(`"${input.branch}" is not a name for a branch.`);
  const parent =
    (await resolveCommit(repository, `refs/heads/${input.branch}`)) ??
    (await resolveCommit(repository, 'HEAD'));
  const paths = Object.keys(input.files);
  const wrong = paths.find((path) => !isTreePath(path));
  if (wrong !== undefined) throw new Refusal(`"${wrong}" is not a path in a repository.`);
  const entries = parent ? await entriesAt(repository, parent, paths) : [];
  const there = new Map(entries.map((entry) => [entry.path, entry]));
  const removed: string[] = [];
  const changes: Change[] = [];
  for (const [path, text] of Object.entries(input.files)) {
    const entry = there.get(path);
    if (text === null && !entry) throw new Refusal(`There is no ${path} on ${input.branch} to take away.`);
    const mode = entry?.mode === '100755' ? '100755' : '100644';
    if (text === null) removed.push(path);
    else changes.push({ path, mode, content: () => Buffer.from(text) });
  }
  return importCommit(repository, { ...input, parent, removed, changes, author: input.author ?? author });
}

/** All that is in the folder, but for a `.git` of its own. */
export async function commitFolder(
  repository: BareRepository,
  branch: string,
  folder: string,
): Promise<string> {
  const changes = filesIn(folder, '');
  if (changes.length === 0) throw new Refusal(`There are no files in ${folder}.`);
  const message = 'First commit';
  return importCommit(repository, {
    branch,
    message,
    parent: undefined,
    removed: [],
    changes,
    author: firstAuthor,
  });
}

function filesIn(root: string, under: string): Change[] {
  const names = readdirSync(join(root, under)).filter((name) => name !== '.git');
  return names.sort().flatMap((name) => {
    const path = under === '' ? name : `${under}/${name}`;
    const full = join(root, path);
    const kind = lstatSync(full);
    if (kind.isDirectory()) return filesIn(root, path);
    if (kind.isSymbolicLink())
      return [{ path, mode: '120000', content: () => readlinkSync(full, { encoding: 'buffer' }) }];
    if (!kind.isFile()) throw new Refusal(`${full} is neither a file nor a folder nor a link.`);
    const mode = kind.mode & 0o100 ? '100755' : '100644';
    return [{ path, mode, content: () => readFileSync(full) }];
  });
}

interface Import {
  readonly branch: string;
  readonly message: string;
  readonly parent: string | undefined;
  readonly removed: readonly string[];
  readonly changes: readonly Change[];
  readonly author: Author;
}

async function importCommit(repository: BareRepository, work: Import): Promise<string> {
  const ref = `refs/heads/${work.branch}`;
  const child = repository.start(['fast-import', '--quiet', '--date-format=raw']);
  child.stdin.on('error', ignoreBrokenPipe);
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  let sha = '';
  child.stdout.on('data', (chunk: Buffer) => {
    sha += chunk.toString();
  });
  const ended = exitCode(child);
  for (const part of streamOf(ref, work))
    if (!child.stdin.write(part)) await Promise.race([once(child.stdin, 'drain'), ended]);
  child.stdin.end();
  const code = await ended;
  if (code !== 0) throw new GitError('fast-import', code, said);
  return sha.trim();
}

function* streamOf(ref: string, work: Import): Generator<string | Buffer> {
  const signature = signatureOf(work.author);
  yield `commit ${ref}\nmark :1\nauthor ${signature}\ncommitter ${signature}\n`;
  yield* data(Buffer.from(work.message.endsWith('\n') ? work.message : `${work.message}\n`));
  if (work.parent) yield `from ${work.parent}\n`;
  for (const path of work.removed) yield `D ${quoted(path)}\n`;
  for (const { path, mode, content } of work.changes) {
    yield `M ${mode} inline ${quoted(path)}\n`;
    yield* data(content());
  }
  yield 'get-mark :1\n';
}

function* data(content: Buffer): Generator<string | Buffer> {
  yield `data ${content.length}\n`;
  yield content;
  yield '\n';
}

function signatureOf({ name, email, date }: Author): string {
  const seconds = Math.floor((date === undefined ? Date.now() : Date.parse(date)) / 1000);
  if (!Number.isFinite(seconds)) throw new Refusal(`"${date}" is not a date.`);
  if (/[<>\n\0]/.test(name + email)) throw new Refusal('A name or an address has no < > and no line break.');
  return `${name} <${email}> ${seconds} +0000`;
}

function quoted(path: string): string {
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}
