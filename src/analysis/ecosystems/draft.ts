/** How a detector puts together what it found, where much of it may be missing. */
import type { AppDraft, Candidate } from '../detector.ts';
import { certain, conventional, type Evidenced, evidenced } from '../evidence.ts';
import type { PackageManager, Process, StaticOutput } from '../result.ts';

type Partly<T> = { readonly [Key in keyof T]?: T[Key] | undefined };

export function known(draft: Partly<AppDraft>): AppDraft {
  const made: AppDraft = {};
  for (const [key, value] of Object.entries(draft)) {
    if (value !== undefined) Object.assign(made, { [key]: value });
  }
  return made;
}

export function candidate(
  ecosystem: string,
  directory: string,
  score: number,
  draft: Partly<AppDraft>,
  role: Candidate['role'] = 'app',
): Candidate {
  return { ecosystem, directory, score, role, draft: known(draft) };
}

/** Only those versions that are known. */
export function versionsOf(
  all: Readonly<Record<string, Evidenced<string> | undefined>>,
): Readonly<Record<string, Evidenced<string>>> {
  const made: Record<string, Evidenced<string>> = {};
  for (const [key, value] of Object.entries(all)) if (value) made[key] = value;
  return made;
}

export function manager(
  name: string,
  lockFile: string | undefined,
  source: string,
  version: string | null = null,
): Evidenced<PackageManager> {
  return evidenced(
    { name, version, lockFile: lockFile ?? null },
    lockFile ? certain : conventional,
    lockFile ?? source,
    lockFile ? `lock file of ${name}` : name,
  );
}

/** An app that is nothing but files: no process runs, a web server of ours sends them. */
export function staticSite(output: StaticOutput, file: string, note: string, certainty = conventional) {
  return {
    startCommand: evidenced(null, conventional, file, 'served as files'),
    staticOutput: evidenced(output, certainty, file, note),
  };
}

export function worker(name: string, command: string, source: string, note: string): Evidenced<Process> {
  return evidenced({ name, kind: 'worker', command, schedule: null }, conventional, source, note);
}
