/** One unit in a process of its own, and what came of it. */

import { join, relative, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { run } from 'node:test';
import { spec as Spec, type TestEvent } from 'node:test/reporters';
import { root } from '../commands.ts';
import type { Unit } from './plan.ts';

export interface Outcome {
  readonly unit: Unit;
  readonly passed: number;
  readonly failed: number;
  readonly seconds: number;
  /** Of each file, where one process ran several. */
  readonly secondsOf: ReadonlyMap<string, number>;
  readonly failedFiles: readonly string[];
  readonly skipped: readonly { readonly name: string; readonly why: string }[];
  /** As a person reads it, with everything the tests printed. */
  output(): Promise<string>;
}

/** No test is about this limit: it ends a whole file that hangs. */
const longestFileMs = 30 * 60_000;
const several = join(root, 'scripts/testing/several-files.ts');

export async function runUnit(unit: Unit, signal: AbortSignal): Promise<Outcome> {
  const [only, ...others] = unit.files;
  const entry = only !== undefined && others.length === 0 ? resolve(root, only) : several;
  const argv = entry === several ? [...unit.files] : [];
  const started = performance.now();
  const events: TestEvent[] = [];
  for await (const event of run({
    files: [entry],
    argv,
    concurrency: 1,
    timeout: longestFileMs,
    signal,
    cwd: root,
  }))
    events.push(event);
  return judge(unit, events, (performance.now() - started) / 1000);
}

function judge(unit: Unit, events: readonly TestEvent[], seconds: number): Outcome {
  const failedFiles = new Set<string>();
  const skipped: { name: string; why: string }[] = [];
  const secondsOf = new Map<string, number>();
  let [passed, failed] = [0, 0];
  for (const event of events) {
    if (event.type === 'test:summary' && event.data.file === undefined) {
      const { tests, skipped: left, todo } = event.data.counts;
      ({ passed } = event.data.counts);
      failed = tests - passed - left - todo;
      if (!event.data.success && failed === 0) failed = 1;
    }
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue;
    const { file, name, nesting, skip, details } = event.data;
    const path = file === undefined ? '' : relative(root, file);
    const own = unit.files.includes(path) ? path : unit.files.length === 1 ? unit.files[0] : undefined;
    if (nesting === 0 && own !== undefined)
      secondsOf.set(own, (secondsOf.get(own) ?? 0) + details.duration_ms / 1000);
    if (skip !== undefined && skip !== false)
      skipped.push({ name, why: typeof skip === 'string' ? skip : '' });
    if (event.type === 'test:fail')
      for (const each of own === undefined ? unit.files : [own]) failedFiles.add(each);
  }
  if (failed > 0 && failedFiles.size === 0) for (const file of unit.files) failedFiles.add(file);
  if (unit.files.length === 1) secondsOf.set(unit.name, seconds);
  const output = () => text(Readable.from(events).pipe(new Spec()));
  return { unit, passed, failed, seconds, secondsOf, failedFiles: [...failedFiles], skipped, output };
}
