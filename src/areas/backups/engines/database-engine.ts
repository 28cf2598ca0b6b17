/**
 * What the engines of databases with a server have in common: the order of things around a dump, a verification and a
 * load. What differs is the dialect's: the scripts, and how the staging copy becomes live.
 */

import { volumeFolder } from '../../../engine/data-host.ts';
import { type DockerHost, lostWithDocker } from '../../../engine/docker-host.ts';
import { Fault } from '../../../fault.ts';
import { databaseDown, dumpOf } from './dump.ts';
import type { CopyName, DataSource, Engine, LoadInput, ServiceSource, SwapNames } from './engine.ts';
import { notRestored, runUnit, type Script, type UnitEnd, unitOf } from './run-unit.ts';
import {
  inScratch,
  mostFilled,
  removeScratch,
  requireSpace,
  type Scratch,
  scratchMemory,
  scratchOf,
  startScratch,
} from './scratch.ts';
import { readablePath } from './server-tools.ts';

export interface DatabaseDialect extends Pick<Engine, 'format'> {
  readonly kind: ServiceSource['kind'];
  /** The dump tool's name, for messages. */
  readonly tool: string;
  readonly dumpArgv: (source: ServiceSource) => readonly string[];
  readonly verifyScratch: Pick<Scratch, 'options' | 'variables'>;
  readonly verifyScript: (source: ServiceSource, scratch: string, path: string) => Script;
  /** The container that a load needs; none where it goes straight into the live one. */
  readonly loadScratch: (source: ServiceSource, input: LoadInput) => Scratch | null;
  readonly loadScript: (source: ServiceSource, scratch: string, path: string, input: LoadInput) => Script;
  readonly discard: (host: DockerHost, source: ServiceSource, name: CopyName) => Promise<void>;
  readonly swap: (host: DockerHost, source: ServiceSource, names: SwapNames) => Promise<void>;
}

/** An upload may not be compressed; a tight estimate would refuse what fits. */
const loadGrowth = 3;

export function databaseEngine(dialect: DatabaseDialect): Engine {
  const { kind, format, tool } = dialect;
  const own = (source: DataSource) => requireKind(source, kind);
  const discard: Engine['discard'] = async (host, source, name) => {
    requireCopyName(name);
    await removeScratch(host, name);
    await dialect.discard(host, own(source), name);
  };
  return {
    format,
    discard,
    swap: (host, source, names) => {
      requireCopyName(names.staging);
      requireCopyName(names.previous);
      return dialect.swap(host, own(source), names);
    },
    dump: (host, source) => dumpOf(host, tool, dialect.dumpArgv(own(source))),
    verifyRestore: (host, from, file, scratchId, progress) => {
      const source = own(from);
      const { volume } = source;
      return inScratch(host, { volume, memoryMb: scratchMemory(source) }, file, scratchId, async (path) => {
        const scratch = { ...scratchOf(scratchId), ...dialect.verifyScratch };
        const unit = unitOf('verify', scratchId);
        const { state } = await host.remote.readUnit(unit, 0);
        if (state.kind === 'absent') {
          await removeScratch(host, scratchId);
          await startScratch(host, source, scratch);
        }
        const script = dialect.verifyScript(source, scratch.name, path);
        const filled = { folder: await volumeFolder(host, scratch.volume), mostBytes: null };
        const end = await runUnit(host, unit, script, filled, file, progress);
        if (end.isDone) return { outcome: 'restored', contentStats: end.contentStats };
        return notRestored('It could not be loaded', end);
      });
    },
    loadStaging: async (host, from, file, input, progress) => {
      requireCopyName(input.staging);
      const source = own(from);
      const unit = unitOf('load', input.staging);
      const scratch = dialect.loadScratch(source, input);
      const { state } = await host.remote.readUnit(unit, 0);
      const path = await readablePath(host, file);
      let mostBytes: number | null = null;
      if (state.kind === 'absent') {
        await discard(host, source, input.staging);
        const used = await requireSpace(host, source, { fileBytes: file.bytes, growth: loadGrowth });
        mostBytes = mostFilled(input, used);
        if (scratch) await startScratch(host, source, scratch);
      }
      const script = dialect.loadScript(source, scratch?.name ?? '', path, input);
      const folder = await volumeFolder(host, scratch?.volume ?? source.volume);
      const end = await runUnit(host, unit, script, { folder, mostBytes }, file, progress);
      if (!end.isDone) {
        await discard(host, source, input.staging);
        throw loadFailed(tool, input.content, end);
      }
      if (scratch) await removeScratch(host, input.staging);
    },
  };
}

/** After a swap: `script` waits for the database in the live container, and prints its log where that ends. */
export async function waitUntilReady(
  { remote, signal }: DockerHost,
  { script, args }: Script,
): Promise<void> {
  const argv = ['bash', '-c', `set -euo pipefail\n${script}`, 'slipway', ...args];
  const { code, stderr } = await remote.run(argv, { timeoutMs: 900_000, signal });
  if (code === 0) return;
  const evidence = stderr.toString('utf8').trim().slice(-2_000);
  throw (
    lostWithDocker(evidence) ??
    new Fault('database_down', 'The database does not start with the data that is live now.', { evidence })
  );
}

function loadFailed(
  tool: string,
  content: LoadInput['content'],
  { refused, evidence, overrun }: Extract<UnitEnd, { isDone: false }>,
): Fault {
  if (overrun) return overrun;
  if (refused !== null && content === 'upload')
    return unknownFormat(
      refused,
      'SQL as text, also packed by gzip or zstd, can be imported; for PostgreSQL also archives of pg_dump.',
    );
  // An error with a line of the file comes from the file, also where it asks for a connection to somewhere else.
  const isOfFile = content === 'upload' && /psql:<stdin>:\d+: |^ERROR \d+ .* at line \d+/m.test(evidence);
  const known = diskFull(evidence) ?? (isOfFile ? undefined : databaseDown(evidence));
  if (known) return known;
  if (content === 'upload')
    return new Fault('import_failed', 'The file could not be imported; the data is unchanged.', {
      hint: /backslash commands are restricted/.test(evidence)
        ? 'Commands of psql itself, lines that begin with a backslash, are not run. Take them out of the file.'
        : 'The evidence has the line of the file and the statement that failed.',
      evidence,
    });
  return new Fault('restore_failed', `${tool} could not load the backup; the data is unchanged.`, {
    evidence: refused === null ? evidence : `the file is ${refused}`,
  });
}

export function unknownFormat(format: string, hint: string): Fault {
  return new Fault('import_format_unknown', `The file cannot be imported: it is ${format}.`, {
    hint,
    evidence: format,
  });
}

export function diskFull(evidence: string): Fault | undefined {
  if (!/No space left on device|disk is full|could not extend file/i.test(evidence)) return undefined;
  return new Fault('disk_full', 'The disk of the server is full; the data is unchanged.', { evidence });
}

export function requireKind(source: DataSource, kind: ServiceSource['kind']): ServiceSource {
  if (source.type === 'service' && source.kind === kind) return source;
  throw new Fault('internal_error', `The engine of ${kind} was given data of another kind.`);
}

function requireCopyName(name: CopyName): void {
  const isReserved = ['app', 'postgres', 'template0', 'template1', 'mysql'].includes(name);
  if (/^[a-z0-9_]{1,40}$/.test(name) && !isReserved) return;
  throw new Fault('internal_error', 'A copy of the data has a name that it cannot have.', { evidence: name });
}
