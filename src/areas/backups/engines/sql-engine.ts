/**
 * What the engines of the SQL databases have in common: the order of things around a dump, a trial and a load. What
 * differs is the dialect's: the scripts, and how what is beside becomes live.
 */

import type { DockerHost } from '../../../engine/docker-host.ts';
import { Fault } from '../../../fault.ts';
import type { Begin, BesideName, Engine, ServerFile, Source, Verdict } from './engine.ts';
import { dumpOf, isNoAnswer } from './run-in-container.ts';
import { readableThere, removePlain, serverTools } from './server-tools.ts';
import {
  noRoomFor,
  removeMarked,
  type ServiceSource,
  startThrowAway,
  type ThrowAway,
  throwAwayMemory,
  throwAwayOf,
  unitOf,
} from './throw-away.ts';
import { notLoadedVerdict, runUnit, type UnitEnd } from './throw-away-unit.ts';

export interface Work {
  readonly script: string;
  readonly args: readonly string[];
}

export interface LoadWish {
  readonly beside: BesideName;
  readonly begin: Begin;
  readonly content: 'dump' | 'upload';
}

export interface Dialect extends Pick<Engine, 'format'> {
  readonly kind: ServiceSource['kind'];
  /** For the sentences. */
  readonly tool: string;
  readonly dumpArgv: (source: ServiceSource) => readonly string[];
  readonly tryOptions: readonly string[];
  /** Beside the variables that the service is started with. */
  readonly tryVariables?: Readonly<Record<string, string>>;
  readonly tryWork: (source: ServiceSource, away: string, path: string) => Work;
  /** The container that a load needs; none where it goes straight into the live one. */
  readonly loadAway: (source: ServiceSource, wish: LoadWish) => ThrowAway | null;
  readonly loadWork: (source: ServiceSource, away: string, path: string, wish: LoadWish) => Work;
  /** Before a load that begins anew. */
  readonly clear: (site: DockerHost, source: ServiceSource, name: BesideName) => Promise<void>;
  readonly swap: (
    site: DockerHost,
    source: ServiceSource,
    names: { beside: BesideName; before: BesideName },
  ) => Promise<void>;
}

export function sqlEngine(dialect: Dialect): Engine {
  const { kind, format } = dialect;
  const discard: Engine['discard'] = async (site, source, name) => {
    mustBeName(name);
    await removeMarked(site, name);
    await dialect.clear(site, ours(source, kind), name);
  };
  return {
    kind,
    format,
    discard,
    clearAway: (site, mark) => removeMarked(site, mark),
    swap: (site, source, names) => {
      mustBeName(names.beside);
      mustBeName(names.before);
      return dialect.swap(site, ours(source, kind), names);
    },
    dump: async (site, source) => {
      const argv = dialect.dumpArgv(ours(source, kind));
      return dumpOf(site, { argv, tool: dialect.tool, tools: await serverTools(site) });
    },
    tryOut: (site, source, file, mark, progress) =>
      tryOut(dialect, site, ours(source, kind), file, mark, progress),
    loadBeside: async (site, source, file, wish, progress) => {
      mustBeName(wish.beside);
      const from = ours(source, kind);
      const unit = unitOf('load', wish.beside);
      const away = dialect.loadAway(from, wish);
      const { state } = await site.remote.readUnit(unit, 0);
      const path = await readableThere(site, file, await serverTools(site));
      if (state.kind === 'absent') {
        await discard(site, source, wish.beside);
        await mustHaveRoom(site, from, file);
        if (away) await startThrowAway(site, from, away);
      }
      const work = dialect.loadWork(from, away?.name ?? '', path, wish);
      const end = await runUnit(site, { unit, ...work, bytes: file.bytes }, progress);
      if (!end.isDone) {
        await discard(site, source, wish.beside);
        throw loadFailed(dialect.tool, wish.content, end);
      }
      if (away) await removeMarked(site, wish.beside);
    },
  };
}

async function tryOut(
  dialect: Dialect,
  site: DockerHost,
  source: ServiceSource,
  file: ServerFile,
  mark: string,
  progress: Parameters<Engine['tryOut']>[4],
): Promise<Verdict> {
  const memoryMb = throwAwayMemory(source);
  const reason = await noRoomFor(site, { volume: source.volume, fileBytes: file.bytes, memoryMb });
  if (reason !== null) return { outcome: 'untried', reason };
  const away = { ...throwAwayOf(mark), options: dialect.tryOptions, variables: dialect.tryVariables ?? {} };
  try {
    const path = await readableThere(site, file, await serverTools(site));
    const unit = unitOf('try', mark);
    const { state } = await site.remote.readUnit(unit, 0);
    if (state.kind === 'absent') {
      await removeMarked(site, mark);
      await startThrowAway(site, source, away);
    }
    const work = dialect.tryWork(source, away.name, path);
    const end = await runUnit(site, { unit, ...work, bytes: file.bytes }, progress);
    if (end.isDone) return { outcome: 'loaded', figures: end.figures };
    return notLoadedVerdict('It could not be loaded', end.evidence);
  } finally {
    await removeMarked(site, mark);
    await removePlain(site, file);
  }
}

/** An upload may come unpacked; a tight estimate would refuse what fits. */
const loadGrowth = 3;

async function mustHaveRoom(site: DockerHost, { volume }: ServiceSource, file: ServerFile): Promise<void> {
  const reason = await noRoomFor(site, { volume, fileBytes: file.bytes, growth: loadGrowth });
  if (reason !== null)
    throw new Fault('disk_full', reason, { hint: 'Free some space on the server, then try again.' });
}

function loadFailed(
  tool: string,
  content: 'dump' | 'upload',
  { refused, evidence }: Extract<UnitEnd, { isDone: false }>,
): Fault {
  if (refused !== null && content === 'upload')
    return new Fault('import_format_unknown', `The file cannot be imported: it is ${refused}.`, {
      hint: 'SQL as text, also packed by gzip or zstd, can be imported; for PostgreSQL also archives of pg_dump.',
      evidence: refused,
    });
  if (/No space left on device|disk is full|could not extend file/i.test(evidence))
    return new Fault('disk_full', 'The disk of the server is full; the data is as it was before.', {
      evidence,
    });
  // What has a line of the file is the file's own doing, also where it asks for a connection to somewhere else.
  const isOfFile = content === 'upload' && /psql:<stdin>:\d+: |^ERROR \d+ .* at line \d+/m.test(evidence);
  if (!isOfFile && isNoAnswer(evidence)) return notThere(evidence);
  if (/is not running|No such container/i.test(evidence)) return notThere(evidence);
  if (content === 'upload')
    return new Fault('import_failed', 'The file could not be imported; the data is as it was before.', {
      hint: 'The evidence has the line of the file and the statement that failed.',
      evidence,
    });
  const said = refused === null ? evidence : `the file is ${refused}`;
  return new Fault('restore_failed', `${tool} could not load the backup; the data is as it was before.`, {
    evidence: said,
  });
}

function notThere(evidence: string): Fault {
  return new Fault('database_down', 'The database does not answer.', { evidence });
}

function ours(source: Source, kind: ServiceSource['kind']): ServiceSource {
  if (source.type === 'service' && source.kind === kind) return source;
  throw new Fault('internal_error', `The engine of ${kind} was asked about something else.`);
}

function mustBeName(name: BesideName): void {
  if (
    /^[a-z0-9_]{1,40}$/.test(name) &&
    !['app', 'postgres', 'template0', 'template1', 'mysql'].includes(name)
  )
    return;
  throw new Fault('internal_error', 'What stands beside has a name that it cannot have.', { evidence: name });
}
