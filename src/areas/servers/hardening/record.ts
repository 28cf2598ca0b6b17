/** The folder of a step on the server: prepared before the first change, completed with the manifest after the last. */
import { createHash } from 'node:crypto';
import { Fault } from '../../../fault.ts';
import type { Remote } from '../../../remote/remote.ts';
import { changesOf, listEtc, parseListing, type StepManifest } from './manifest.ts';
import { stateDir } from './paths.ts';
import { type Plan, type StepId, type StepPlan, stepIds } from './plan.ts';
import { parseNamedSections } from './sections.ts';
import { serverScripts } from './server-scripts.ts';

export function runDir(runId: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9-]{0,63}$/.test(runId))
    throw new Fault('invalid_input', 'The id of the hardening run is not valid.');
  return `${stateDir}/runs/${runId}`;
}

export function stepDir(runId: string, stepId: StepId): string {
  return `${runDir(runId)}/${String(stepIds.indexOf(stepId)).padStart(2, '0')}-${stepId}`;
}

// A step that was left armed and unverified is undone first: it must not become part of the former state.
const prepareScript = String.raw`dir=$1 state=$2
umask 077
tab=$(printf '\t')
mkdir -p "$dir/new" "$dir/cmd" "$dir/before"
while read -r name data; do printf %s "$data" | base64 -d > "$name.part"; mv -f "$name.part" "$name"; done
exec 9> "$state/lock"
flock -w 60 9
if [ -f "$state/armed" ] && [ "$(sed -n 2p "$state/armed")" != "$dir" ]; then flock -u 9; sh "$state/deadman.sh"; flock -w 60 9; fi
sh "$state/compare.sh" "$dir" || exit 0
if [ ! -e "$dir/prepared" ]; then
  rm -rf "$dir/etc" "$dir"/before/*
  while IFS=$tab read -r index mode shaBefore shaAfter path; do
    if [ -e "$path" ]; then cp -a "$path" "$dir/before/$index"; else : > "$dir/before/$index.absent"; fi
    folder=$(dirname "$path")
    while [ ! -d "$folder" ]; do echo "$folder"; folder=$(dirname "$folder"); done
  done < "$dir/targets" > "$dir/folders"
  if grep -q '^restore_sysctl' "$dir/undo"; then
    for key in $(sed -n 's/^\([a-z0-9_.]*\) = .*/\1/p' "$dir/new/0"); do
      file=/proc/sys/$(printf %s "$key" | tr . /)
      printf '%s\t%s\n' "$file" "$(cat "$file")"
    done > "$dir/sysctl"
  fi
  list_etc > "$dir/etc.list"
  list_packages > "$dir/packages"
  cp -a /etc "$dir/etc"
  sync
  echo prepared > "$dir/state"
  : > "$dir/prepared"
fi
printf 'state %s\n' "$(cat "$dir/state")"
`;

const hashOf = (text: string | null) =>
  text === null ? 'absent' : createHash('sha256').update(text).digest('hex');

/** Returns the state of the step; refuses with `changed_since` where a file is not what the plan was made for. */
export async function prepareStep(
  remote: Remote,
  plan: Plan,
  step: StepPlan,
  runId: string,
): Promise<string> {
  const dir = stepDir(runId, step.id);
  const targets = step.files.map(({ path, before, after, mode }, index) =>
    [index, mode, hashOf(before), hashOf(after), path].join('\t'),
  );
  const undo = step.undo.map((action) => {
    const { do: verb, ...rest } = action;
    return [verb, ...Object.values(rest)].join(' ');
  });
  const about = { runId, fingerprint: plan.fingerprint, system: plan.system };
  const bundle = new Map<string, string>([
    ...Object.entries(serverScripts).map(([name, text]) => [`${stateDir}/${name}`, text] as const),
    [`${runDir(runId)}/run.json`, `${JSON.stringify(about)}\n`],
    [`${dir}/step.json`, `${JSON.stringify(step)}\n`],
    [`${dir}/targets`, targets.map((line) => `${line}\n`).join('')],
    [`${dir}/undo`, undo.map((line) => `${line}\n`).join('')],
    ...step.files.map(({ after }, index) => [`${dir}/new/${index}`, after ?? ''] as const),
    ...step.commands.map(
      (argv, index) => [`${dir}/cmd/${index}`, argv.map((a) => `${a}\0`).join('')] as const,
    ),
  ]);
  const input = [...bundle]
    .map(([name, text]) => `${name} ${Buffer.from(text).toString('base64')}\n`)
    .join('');
  const printed = await remote.script(listEtc + prepareScript, [dir, stateDir], { input });
  const lines = printed.toString('utf8').split('\n');
  refuseChanged(lines);
  return lines.find((line) => line.startsWith('state '))?.slice(6) ?? '';
}

export function refuseChanged(lines: readonly string[]): void {
  const changed = lines.flatMap((line) => /^changed-since (.*)$/.exec(line)?.[1] ?? []);
  if (changed.length === 0) return;
  throw new Fault('changed_since', `Changed since the plan was made: ${changed.join(', ')}.`, {
    hint: 'Make a new plan, and review it.',
    errors: changed.map((path) => ({ path, message: 'is not as it was when the plan was made' })),
  });
}

const compareEtcScript = `dir=$1
if [ -f "$dir/manifest.json" ]; then echo '#=manifest'; cat "$dir/manifest.json"; exit 0; fi
echo '#=step'; cat "$dir/step.json"
echo '#=before'; cat "$dir/etc.list"
echo '#=packages-before'; cat "$dir/packages"
echo '#=after'; list_etc
echo '#=packages-after'; list_packages
`;

const manifestScript = `dir=$1 state=$2
umask 077
read -r manifest
rm -rf "$dir/kept"; mkdir "$dir/kept"
while read -r path; do ( cd "$dir/etc" && cp -a --parents --no-dereference "./$path" "$dir/kept/" ); done
printf %s "$manifest" | base64 -d > "$dir/manifest.part"
sync
mv "$dir/manifest.part" "$dir/manifest.json"
if [ "$state" != - ]; then echo "$state" > "$dir/state"; fi
rm -rf "$dir/etc" "$dir/etc.list"
`;

/** Records what the step has changed, with copies of just that. Done once; later calls read it. */
export async function writeManifest(
  remote: Remote,
  dir: string,
  state: 'applied' | '-',
): Promise<StepManifest> {
  const section = parseNamedSections(
    (await remote.script(listEtc + compareEtcScript, [dir])).toString('utf8'),
  );
  const [written] = section('manifest');
  if (written !== undefined) {
    if (state !== '-')
      await remote.script('echo "$2" > "$1/state"; rm -rf "$1/etc" "$1/etc.list"', [dir, state]);
    const manifest: StepManifest = JSON.parse(written);
    return manifest;
  }
  const step: StepPlan = JSON.parse(section('step').join(''));
  const changes = changesOf(step, parseListing(section('before')), parseListing(section('after')));
  const had = new Set(section('packages-before'));
  const packages =
    step.undoNone === undefined ? section('packages-after').filter((name) => !had.has(name)) : [];
  const manifest: StepManifest = { stepId: step.id, changes, packages };
  const kept = changes.filter(({ before }) => before !== null && before.type !== 'folder');
  const input = [
    Buffer.from(`${JSON.stringify(manifest)}\n`).toString('base64'),
    ...kept.map(({ path }) => path.slice('/etc/'.length)),
  ];
  await remote.script(manifestScript, [dir, state], { input: `${input.join('\n')}\n` });
  return manifest;
}
