/** The runs that are recorded on a server. */
import type { Remote } from '../../../remote/remote.ts';
import type { StepManifest } from './manifest.ts';
import { stateDir } from './paths.ts';
import { parseNamedSections } from './sections.ts';

export interface RunRecord {
  readonly runId: string;
  readonly state: 'open' | 'undoing' | 'undone';
  /** `prepared`, `applied` or `undone`, by the name of the step's folder; in the order they were run. */
  readonly steps: readonly RunStep[];
}

export interface RunStep {
  readonly dir: string;
  readonly state: string;
  /** When the dead-man timer undid it, in seconds. */
  readonly firedAt: number | null;
  readonly manifest: StepManifest | null;
}

const script = String.raw`
for run in "$1"/runs/*/; do
  [ -d "$run" ] || continue
  echo '#=run'
  printf 'run %s %s\n' "$(basename "$run")" "$(cat "$run/state" 2>/dev/null || echo open)"
  for dir in "$run"/*/; do
    [ -f "$dir/state" ] || continue
    printf 'step %s %s %s\n' "$(basename "$dir")" "$(cat "$dir/state")" "$(cat "$dir/fired" 2>/dev/null || echo -)"
    if [ -f "$dir/manifest.json" ]; then printf 'manifest %s\n' "$(cat "$dir/manifest.json")"; fi
  done
done
`;

export async function readRuns(remote: Remote): Promise<RunRecord[]> {
  const printed = (await remote.script(script, [stateDir])).toString('utf8');
  return printed
    .split('#=run\n')
    .filter(Boolean)
    .map((part) => readRun(parseNamedSections(`#=run\n${part}`)('run')));
}

function readRun(lines: readonly string[]): RunRecord {
  let [runId, state]: [string, RunRecord['state']] = ['', 'open'];
  const steps: RunStep[] = [];
  for (const line of lines) {
    const [word, first = '', second = '', third = ''] = line.split(' ');
    if (word === 'run')
      [runId, state] = [first, second === 'undoing' || second === 'undone' ? second : 'open'];
    else if (word === 'step')
      steps.push({
        dir: `${stateDir}/runs/${runId}/${first}`,
        state: second,
        firedAt: third === '-' ? null : Number(third),
        manifest: null,
      });
    else if (word === 'manifest') {
      const last = steps.pop();
      const manifest: StepManifest = JSON.parse(line.slice('manifest '.length));
      if (last) steps.push({ ...last, manifest });
    }
  }
  return { runId, state, steps };
}
