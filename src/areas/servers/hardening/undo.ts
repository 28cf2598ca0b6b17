/**
 * Undoes a whole run: every byte, mode and owner in /etc as it was, what did not exist is removed, packages that came are
 * purged. Refuses before the first change where someone has changed a file since, and names it. May be run again
 * after a kill anywhere.
 */
import { Fault } from '../../../fault.ts';
import type { Fence, Remote } from '../../../remote/remote.ts';
import { runDetached } from './detached.ts';
import {
  changedSince,
  type EtcChange,
  type EtcListing,
  isSame,
  isShared,
  listEtc,
  mergeChanges,
  parseListing,
} from './manifest.ts';
import { stateDir, undoScriptPath } from './paths.ts';
import { runDir, writeManifest } from './record.ts';
import { type RunRecord, type RunStep, readRuns } from './runs.ts';

export interface UndoOutcome {
  readonly runId: string;
  readonly restored: readonly string[];
  readonly purged: readonly string[];
}

export async function undoRun(
  remote: Remote,
  runId: string,
  log: (line: string) => void,
  fence?: Fence,
): Promise<UndoOutcome> {
  const dir = runDir(runId);
  const run = await runWithManifests(remote, runId);
  if (run.state === 'undone') return { runId, restored: [], purged: [] };
  const manifests = run.steps.flatMap(({ manifest }) => manifest ?? []);
  const wanted = await changesToUndo(remote, run, mergeChanges(manifests));
  const packages = await purgeable(remote, [...new Set(manifests.flatMap((each) => each.packages))]);
  await remote.script('echo undoing > "$1/state"', [dir]);

  for (const step of run.steps.toReversed()) {
    log(`Undoing ${step.dir.slice(step.dir.lastIndexOf('/') + 4)}.`);
    await remote.script('sh "$1" "$2"', [undoScriptPath, step.dir]);
  }
  await purge(remote, packages, log, fence);
  const restored = await restore(remote, run, wanted);
  // What a service keeps in /etc by its own command has only come back now.
  const again = 'if grep -q "^restart_unit" "$2/undo"; then sh "$1" "$2"; fi';
  for (const step of run.steps) await remote.script(again, [undoScriptPath, step.dir]);
  await remote.script(finish, [dir]);
  return { runId, restored, purged: packages };
}

/** Where systemd holds sshd's socket, a reload ends sshd; a restart does not, because the socket stays open. */
const finish = `
systemctl daemon-reload
sshd -t
if systemctl is-active --quiet ssh.socket; then systemctl try-restart ssh.service
else systemctl reload ssh.service; fi
echo undone > "$1/state"
`;

/** With a manifest for every step, also for one that was cut off in the middle. */
async function runWithManifests(remote: Remote, runId: string): Promise<RunRecord> {
  const run = (await readRuns(remote)).find((each) => each.runId === runId);
  if (!run) throw new Fault('not_found', 'No such hardening run is recorded on the server.');
  const steps: RunStep[] = [];
  for (const step of run.steps)
    steps.push({ ...step, manifest: step.manifest ?? (await writeManifest(remote, step.dir, '-')) });
  return { ...run, steps };
}

async function listing(remote: Remote): Promise<EtcListing> {
  const printed = (await remote.script(`${listEtc}\nlist_etc`, [])).toString('utf8');
  return parseListing(printed.split('\n'));
}

async function changesToUndo(remote: Remote, run: RunRecord, changes: EtcChange[]): Promise<EtcChange[]> {
  // Begun once, it was allowed; in between nothing is as it was left or as it was.
  if (run.state === 'undoing') return changes;
  const differing = changedSince(changes, await listing(remote));
  const refused = differing.filter((change) => !isShared(change));
  if (refused.length === 0) return changes.filter((change) => !differing.includes(change));
  throw new Fault(
    'changed_since',
    `Changed since the hardening: ${refused.map(({ path }) => path).join(', ')}.`,
    {
      hint: 'Put these files back as the hardening left them, or undo the step by hand.',
      errors: refused.map(({ path }) => ({ path, message: 'was changed by someone since' })),
    },
  );
}

/** Those still there; refuses where something else has come to need them. */
async function purgeable(remote: Remote, packages: readonly string[]): Promise<string[]> {
  if (packages.length === 0) return [];
  const there = new Set((await remote.script(`${listEtc}\nlist_packages`, [])).toString('utf8').split('\n'));
  const ours = packages.filter((each) => there.has(each));
  if (ours.length === 0) return [];
  const simulated = (await remote.output(['apt-get', '-s', '-q', 'purge', ...ours])).toString('utf8');
  const gone = [...simulated.matchAll(/^(?:Remv|Purg) (\S+)/gm)].map(([, name = '']) =>
    name.replace(/:.*/, ''),
  );
  const others = [...new Set(gone)].filter((name) => !ours.includes(name));
  if (others.length === 0) return ours;
  throw new Fault('in_use', `Packages that came with the hardening are needed by: ${others.join(', ')}.`, {
    errors: others.map((name) => ({ path: name, message: 'would be removed too' })),
  });
}

async function purge(
  remote: Remote,
  packages: readonly string[],
  log: (line: string) => void,
  fence?: Fence,
): Promise<void> {
  if (packages.length === 0) return;
  log(`Purging ${packages.join(', ')}.`);
  const argv = ['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', 'purge', '-y', '-q', ...packages];
  const { code, output } = await runDetached(remote, 'purge', argv, fence, log);
  if (code !== 0) throw new Fault('remote_failed', 'The packages could not be purged.', { evidence: output });
}

const restoreScript = String.raw`tab=$(printf '\t')
while IFS=$tab read -r verb path copy mode owner; do
  case "$verb" in
    remove) rm -f "$path";;
    rmdir) rmdir "$path" 2>/dev/null || true;;
    mkdir) mkdir -p "$path"; chown "$owner" "$path"; chmod "$mode" "$path";;
    put)
      mkdir -p "$(dirname "$path")"
      aside="$(dirname "$path")/.$(basename "$path").slipway"
      rm -f "$aside"
      cp -a --no-dereference "$copy" "$aside"
      mv -fT "$aside" "$path";;
  esac
done
sync
`;

async function restore(remote: Remote, run: RunRecord, changes: readonly EtcChange[]): Promise<string[]> {
  const now = await listing(remote);
  const open = changes.filter(({ path, before }) => !isSame(now.get(path) ?? null, before));
  const isFolder = (change: EtcChange) => (change.before ?? change.after)?.type === 'folder';
  const made = open.filter((each) => each.before !== null && isFolder(each));
  const emptied = open.filter((each) => each.before === null && isFolder(each)).reverse();
  const rest = open.filter((each) => !isFolder(each));
  const lines = [
    ...made.map(({ path, before }) => ['mkdir', path, '-', before?.mode, `${before?.uid}:${before?.gid}`]),
    ...rest.map(({ path, before }) =>
      before === null ? ['remove', path, '-', '-', '-'] : ['put', path, copyOf(run, path), '-', '-'],
    ),
    ...emptied.map(({ path }) => ['rmdir', path, '-', '-', '-']),
  ];
  await remote.script(restoreScript, [], { input: lines.map((line) => `${line.join('\t')}\n`).join('') });
  return changes.map(({ path }) => path);
}

/** In the folder of the first step that changed it. */
function copyOf(run: RunRecord, path: string): string {
  const first = run.steps.find(({ manifest }) => manifest?.changes.some((change) => change.path === path));
  return `${first?.dir ?? `${stateDir}/runs/${run.runId}`}/kept/${path.slice('/etc/'.length)}`;
}
