/**
 * The file of a backup of Slipway's own state: lines of JSON, compressed by zstd. Control lines begin with `#`: one that
 * says what this is, one before the rows of each table, and a last one with counts and a checksum over everything before
 * it. A file without that last line, or with another checksum, is refused before anything is done with it.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createZstdDecompress } from 'node:zlib';
import { errorText, Fault } from '../../fault.ts';

export const stateFormat = 1;

export interface StateHead {
  readonly slipway: 'state';
  readonly format: number;
  readonly createdAt: string;
  readonly migrations: readonly {
    readonly version: number;
    readonly name: string;
    readonly checksum: string;
  }[];
  /** Names of the master keys that open what is sealed in it. Never the keys. */
  readonly masterKeys: readonly string[];
  readonly sequences: readonly {
    readonly name: string;
    readonly value: string;
    readonly isCalled: boolean;
  }[];
}

export interface StateTable {
  readonly table: string;
  readonly columns: readonly string[];
}

export interface StateCounts {
  readonly tables: number;
  readonly rows: number;
}

export type StateLine =
  | { readonly is: 'head'; readonly head: StateHead }
  | { readonly is: 'table'; readonly table: StateTable }
  | { readonly is: 'row'; readonly json: string };

/** Adds the last line. */
export async function* withChecksum(lines: AsyncIterable<string>): AsyncIterable<string> {
  const hash = createHash('sha256');
  const counts = { tables: 0, rows: 0 };
  for await (const line of lines) {
    if (!line.startsWith('#')) counts.rows += 1;
    else if (line.startsWith('# {"table"')) counts.tables += 1;
    const whole = `${line}\n`;
    hash.update(whole);
    yield whole;
  }
  yield `# ${JSON.stringify({ end: true, ...counts, sha256: hash.digest('hex') })}\n`;
}

/** Reads all of it, and fails where it is not whole. */
export async function checkStateFile(
  path: string,
): Promise<{ readonly head: StateHead; readonly counts: StateCounts }> {
  let head: StateHead | undefined;
  const counts = { tables: 0, rows: 0 };
  for await (const line of readStateFile(path)) {
    if (line.is === 'head') head = line.head;
    else if (line.is === 'table') counts.tables += 1;
    else counts.rows += 1;
  }
  if (!head) throw damaged(path, 'it does not say what it is');
  return { head, counts };
}

export async function* readStateFile(path: string): AsyncIterable<StateLine> {
  const hash = createHash('sha256');
  const counts = { tables: 0, rows: 0 };
  let isFirst = true;
  let hasEnded = false;
  for await (const line of linesOf(path)) {
    if (hasEnded) throw damaged(path, 'something follows its last line');
    if (!line.startsWith('#')) {
      if (isFirst) throw damaged(path, 'it is no backup of Slipway’s state');
      counts.rows += 1;
      hash.update(`${line}\n`);
      yield { is: 'row', json: line };
      continue;
    }
    const control = readControl(path, line);
    if (isFirst) yield { is: 'head', head: readHead(path, control) };
    else if (typeof control.table === 'string' && Array.isArray(control.columns)) {
      counts.tables += 1;
      yield { is: 'table', table: { table: control.table, columns: control.columns.map(String) } };
    } else if (control.end === true) {
      hasEnded = true;
      const isWhole = control.sha256 === hash.digest('hex');
      if (!isWhole || control.rows !== counts.rows || control.tables !== counts.tables)
        throw damaged(path, 'its checksum is not that of its content');
      continue;
    } else throw damaged(path, 'a line of it cannot be read');
    isFirst = false;
    hash.update(`${line}\n`);
  }
  if (!hasEnded) throw damaged(path, 'its end is missing');
}

function readControl(path: string, line: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(line.slice(1)));
  } catch {
    throw damaged(path, 'a line of it cannot be read');
  }
}

function readHead(path: string, control: Record<string, unknown>): StateHead {
  if (control.slipway !== 'state') throw damaged(path, 'it is no backup of Slipway’s state');
  const { format, createdAt, migrations, masterKeys, sequences } = control;
  if (format !== stateFormat)
    throw new Fault(
      'state_file_refused',
      `${path} has the format ${format}; this Slipway reads ${stateFormat}.`,
      {
        hint: 'Use the Slipway that made it, or a newer one.',
      },
    );
  if (typeof createdAt !== 'string' || !Array.isArray(migrations) || !Array.isArray(masterKeys))
    throw damaged(path, 'its first line is not complete');
  return {
    slipway: 'state',
    format,
    createdAt,
    masterKeys: masterKeys.map(String),
    migrations: migrations.map((each) => {
      const { version, name, checksum } = Object(each);
      return { version: Number(version), name: String(name), checksum: String(checksum) };
    }),
    sequences: Array.from(Array.isArray(sequences) ? sequences : [], (each) => {
      const { name, value, isCalled } = Object(each);
      return { name: String(name), value: String(value), isCalled: isCalled === true };
    }),
  };
}

async function* linesOf(path: string): AsyncIterable<string> {
  const opened = pipeline(createReadStream(path), createZstdDecompress(), () => undefined);
  let rest: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of opened) {
      const bytes: Buffer = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
      let from = 0;
      for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, from)) {
        yield bytes.toString('utf8', from, at);
        from = at + 1;
      }
      rest = bytes.subarray(from);
    }
  } catch (error) {
    throw error instanceof Fault ? error : damaged(path, errorText(error));
  }
  if (rest.length > 0) throw damaged(path, 'its last line is cut short');
}

function damaged(path: string, why: string): Fault {
  return new Fault('state_file_damaged', `${path} cannot be restored from: ${why}.`, {
    hint: 'Take another copy of it, or an earlier backup. Nothing was changed.',
  });
}
