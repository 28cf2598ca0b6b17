/** The record of how things were before: what a step changed in /etc, entry by entry, and which packages it brought. */
import { sharedFiles, volatileFiles } from './paths.ts';
import type { StepId, StepPlan } from './plan.ts';

export interface EtcEntry {
  readonly type: 'file' | 'folder' | 'link';
  readonly mode: string;
  readonly uid: number;
  readonly gid: number;
  /** SHA-256 of a file, target of a link. */
  readonly content: string;
}

/** Null where there is nothing. */
export interface EtcChange {
  readonly path: string;
  readonly before: EtcEntry | null;
  readonly after: EtcEntry | null;
}

export interface StepManifest {
  readonly stepId: StepId;
  readonly changes: readonly EtcChange[];
  /** Packages that came with the step, dependencies included. */
  readonly packages: readonly string[];
}

/** Prints every entry of /etc; names with a tab or a line break are passed over. */
export const listEtc = String.raw`
list_etc() {
  find /etc -xdev \( -path /etc/.git -o -name '*[[:cntrl:]]*' \) -prune -o \( -type f -o -type l -o -type d \) \
    -printf '%y\t%m\t%U\t%G\t%p\t%l\n'
  find /etc -xdev \( -path /etc/.git -o -name '*[[:cntrl:]]*' \) -prune -o -type f -print0 | xargs -0 sha256sum
}
list_packages() {
  dpkg-query -W -f '\${db:Status-Abbrev}\${Package}\n' | sed -n 's/^[ih]i *//p' | sort -u
}
`.replaceAll('\\$', '$');

const types = { f: 'file', d: 'folder', l: 'link' } as const;

export type EtcListing = ReadonlyMap<string, EtcEntry>;

export function parseListing(lines: readonly string[]): EtcListing {
  const listing = new Map<string, EtcEntry>();
  for (const line of lines) {
    const [kind, mode, uid, gid, path, target = ''] = line.split('\t');
    if (path === undefined) {
      const hash = /^([0-9a-f]{64}) [ *](.*)$/.exec(line);
      const known = listing.get(hash?.[2] ?? '');
      if (known && hash?.[1] && hash[2]) listing.set(hash[2], { ...known, content: hash[1] });
    } else if (kind === 'f' || kind === 'd' || kind === 'l') {
      const entry = { type: types[kind], mode: mode ?? '', uid: Number(uid), gid: Number(gid) };
      listing.set(path, { ...entry, content: target });
    }
  }
  return listing;
}

export function isSame(a: EtcEntry | null, b: EtcEntry | null): boolean {
  if (a === null || b === null) return a === b;
  return (
    a.type === b.type && a.mode === b.mode && a.uid === b.uid && a.gid === b.gid && a.content === b.content
  );
}

/** Comes and goes with the dead-man timer. */
const deadmanUnits = /^\/etc\/systemd\/system\/(multi-user\.target\.wants\/)?slipway-deadman\./;
const temporaries = /\/\.[^/]+\.slipway$/;

/** What a step has changed. Where no package came, only what the step says it touches: the rest is someone else's. */
export function changesOf(step: StepPlan, before: EtcListing, after: EtcListing): EtcChange[] {
  if (step.undoNone !== undefined) return [];
  const touched = [...step.files.map((file) => file.path), ...step.alsoTouches];
  const parents = new Set(step.files.map((file) => file.path.slice(0, file.path.lastIndexOf('/'))));
  const isOurs = (path: string) =>
    step.packages.length > 0 ||
    parents.has(path) ||
    touched.some((each) => path === each || path.startsWith(`${each}/`));
  const changes: EtcChange[] = [];
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    const [was, is] = [before.get(path) ?? null, after.get(path) ?? null];
    if (isSame(was, is) || deadmanUnits.test(path) || temporaries.test(path)) continue;
    if (volatileFiles.includes(path) || !isOurs(path)) continue;
    changes.push({ path, before: was, after: is });
  }
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Several steps as one: how it was before the first, how it is after the last. */
export function mergeChanges(steps: readonly StepManifest[]): EtcChange[] {
  const merged = new Map<string, EtcChange>();
  for (const { changes } of steps)
    for (const change of changes)
      merged.set(change.path, { ...change, before: (merged.get(change.path) ?? change).before });
  return [...merged.values()].filter(({ before, after }) => !isSame(before, after));
}

/** Where the server is neither as we left it nor as it was. */
export function changedSince(changes: readonly EtcChange[], now: EtcListing): EtcChange[] {
  return changes.filter(({ path, before, after }) => {
    const is = now.get(path) ?? null;
    return !isSame(is, after) && !isSame(is, before);
  });
}

export function isShared(change: EtcChange): boolean {
  return sharedFiles.includes(change.path) || change.after?.type === 'folder';
}
