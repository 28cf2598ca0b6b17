/**
 * One operation, run by one worker: forwards through its steps, or backwards through their undos, from wherever the
 * journal says it is. Returns when the operation ends, waits for a retry, or has passed to another worker.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { News, OperationEvent } from '../events/event-kinds.ts';
import { errorText, Fault } from '../fault.ts';
import type { Queryable } from '../store/database.ts';
import type { BoundStep, EndState, Json, OperationFault, StepContext } from './definition.ts';
import { type Journal, type JournalRow, RowsFailed } from './journal.ts';
import { type ClaimedOperation, LeaseLost } from './queries.ts';
import { StepReport } from './step-report.ts';

export interface ExecutionContext {
  readonly operation: ClaimedOperation;
  readonly steps: readonly BoundStep[];
  readonly journal: Journal;
  /** Stops a step: cancelled, handed over, or lease lost. */
  readonly stop: AbortSignal;
  /** Stops everything, undos too: handed over or lease lost. */
  readonly halt: AbortSignal;
  /** Schedules the retry, for any worker. */
  readonly wake: (tx: Queryable, afterMs: number) => Promise<void>;
}

export type Outcome = EndState | 'paused' | 'given up';

const undoAttempts = 3;
/**
 * A step that takes its worker down would be resumed by the next one, for ever, and take all other work with it. So many that a
 * service which is killed for other reasons, again and again within one long step, still gets on.
 */
export const maxCrashes = 8;
/** How long an aborted step may take to stop. */
const settleMs = 5_000;

export async function execute(context: ExecutionContext): Promise<Outcome> {
  try {
    const { operation, journal, steps } = context;
    const rows = new Map((await journal.read()).map((row) => [row.name, row]));
    if (operation.unwinding) return await unwind(context, rows, operation.unwinding, operation.fault);
    if (!operation.started) journal.start();
    return await runSteps(context, rows).catch((error: unknown) => {
      if (!(error instanceof RowsFailed)) throw error;
      // By itself it fails as any other step does, with its retries and with what is undone then.
      return runSteps({ ...context, steps: steps.map((step) => ({ ...step, rows: undefined })) }, rows);
    });
  } catch (error) {
    if (error instanceof LeaseLost) return 'given up';
    throw error;
  }
}

async function runSteps(context: ExecutionContext, rows: Map<string, JournalRow>): Promise<Outcome> {
  const { steps, journal } = context;
  const outputs = new Map<string, Json>();
  for (const [place, step] of steps.entries()) {
    const row = rows.get(step.name);
    if (row?.status === 'done') {
      outputs.set(step.name, row.output);
      continue;
    }
    if (!row && step.isIdle?.(outputs)) continue;
    if (context.halt.aborted) {
      await journal.flush();
      throw new LeaseLost();
    }
    if (context.stop.aborted) return beginUnwind(context, rows, 'cancelled', null);
    const attempt = row?.status === 'waiting' ? row.attempt + 1 : (row?.attempt ?? 1);
    if (hasCrashedTooOften(row, 'running')) {
      await journal.step(step.name, place, 'failed', attempt);
      const fault = crashFault(step.name);
      if (!step.isPostCommit) return beginUnwind(context, rows, 'failed', fault);
      await logFailure(journal, step, fault.message);
      continue;
    }
    const { name, rows: inRows } = step;
    if (inRows && !row) {
      journal.rows(
        name,
        place,
        (tx) => inRows(tx, { ...context.operation, operationId: context.operation.id, outputs }),
        (output) => {
          rows.set(name, { name, status: 'done', attempt, output, crashes: 0 });
          outputs.set(name, output);
        },
      );
      continue;
    }
    if (!step.isPostCommit) await journal.step(step.name, place, 'running', attempt);
    else if (!(await journal.beginPostCommit(step.name, place, attempt)))
      return beginUnwind(context, rows, 'cancelled', null);
    rows.set(step.name, { name: step.name, status: 'running', attempt, output: null, crashes: 0 });
    try {
      const { output, said } = await runStep(context, step, attempt, outputs, step.run);
      journal.done(step.name, place, attempt, output ?? null, said);
      rows.set(step.name, { name: step.name, status: 'done', attempt, output: output ?? null, crashes: 0 });
      outputs.set(step.name, output ?? null);
    } catch (error) {
      if (error instanceof LeaseLost || context.halt.aborted) throw new LeaseLost();
      if (context.stop.aborted) return beginUnwind(context, rows, 'cancelled', null);
      if (isDatabaseUnavailable(error)) throw error;
      const waitMs = retryDelayMs(step, attempt, error);
      if (waitMs !== undefined) {
        await journal.pause(step.name, place, attempt, waitMs, (tx) => context.wake(tx, waitMs));
        return 'paused';
      }
      await journal.step(step.name, place, 'failed', attempt);
      if (!step.isPostCommit) return beginUnwind(context, rows, 'failed', faultOf(error, step.name));
      await logFailure(journal, step, errorText(error));
    }
  }
  const last = steps.at(-1);
  if (await journal.succeed((last && outputs.get(last.name)) ?? null)) return 'succeeded';
  return beginUnwind(context, rows, 'cancelled', null);
}

/** Of a post-commit step: the operation succeeds all the same, and its log says what did not. */
function logFailure(journal: Journal, step: BoundStep, line: string): Promise<void> {
  return journal.report([{ kind: 'log', data: { step: step.name, line } }], undefined);
}

async function beginUnwind(
  context: ExecutionContext,
  rows: Map<string, JournalRow>,
  how: 'failed' | 'cancelled',
  fault: OperationFault | null,
): Promise<Outcome> {
  await context.journal.beginUnwind(how, fault);
  return unwind(context, rows, how, fault);
}

/** Undoes every step that began, the last one first. One that cannot be undone does not prevent the others. */
async function unwind(
  context: ExecutionContext,
  rows: Map<string, JournalRow>,
  how: 'failed' | 'cancelled',
  first: OperationFault | null,
): Promise<Outcome> {
  const { steps, journal } = context;
  const outputs = new Map([...rows.values()].map((row) => [row.name, row.output]));
  const begun = [...steps.entries()].filter(
    ([, step]) => (rows.get(step.name)?.status ?? 'undone') !== 'undone',
  );
  const left: string[] = [];
  for (const [place, step] of begun.reverse()) {
    if (!step.undo) continue;
    if (hasCrashedTooOften(rows.get(step.name), 'undoing')) {
      left.push(`${step.name}: the service stopped ${maxCrashes} times while it was undone`);
      continue;
    }
    await journal.step(step.name, place, 'undoing', 1);
    const problem = await undoStep(context, step, step.undo, outputs);
    if (problem === undefined) await journal.step(step.name, place, 'undone', 1);
    else left.push(`${step.name}: ${problem}`);
  }
  const state = left.length > 0 ? 'failed' : how;
  await journal.end(state, left.length > 0 ? undoFault(first, left) : first);
  return state;
}

async function undoStep(
  context: ExecutionContext,
  step: BoundStep,
  undo: NonNullable<BoundStep['undo']>,
  outputs: Map<string, Json>,
): Promise<string | undefined> {
  let problem = '';
  for (let attempt = 1; attempt <= undoAttempts; attempt += 1) {
    try {
      const { said } = await runStep(context, step, attempt, outputs, async (stepContext) => {
        await undo(stepContext);
        return undefined;
      });
      if (said.length > 0) await context.journal.report(said, undefined);
      return undefined;
    } catch (error) {
      if (error instanceof LeaseLost || context.halt.aborted) throw new LeaseLost();
      if (isDatabaseUnavailable(error)) throw error;
      problem = errorText(error);
      await sleep(200 * attempt);
    }
  }
  return problem;
}

/**
 * Runs one step with its deadline, and tells what it has said that is not written yet. A cancel does not stop an undo: that
 * is what a cancel waits for.
 */
async function runStep(
  context: ExecutionContext,
  step: BoundStep,
  attempt: number,
  outputs: ReadonlyMap<string, Json>,
  work: (context: StepContext) => Promise<Json | undefined>,
): Promise<{ readonly output: Json | undefined; readonly said: readonly News<OperationEvent>[] }> {
  const { operation, journal } = context;
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(new Error('the deadline has passed')), step.deadlineMs);
  const stop = work === step.run ? context.stop : context.halt;
  const signal = AbortSignal.any([stop, deadline.signal]);
  const report = new StepReport(journal, step.name);
  const stepContext: StepContext = {
    operationId: operation.id,
    workspaceId: operation.workspaceId,
    epoch: operation.epoch,
    attempt,
    outputs,
    signal,
    log: (line) => report.log(line),
    progress: (fraction, text) => report.progress(fraction, text),
  };
  try {
    const running = work(stepContext);
    const output = await Promise.race([running, settled(signal, running)]);
    return { output, said: await report.rest() };
  } catch (error) {
    if (!deadline.signal.aborted || stop.aborted) throw error;
    const seconds = Math.round(step.deadlineMs / 1000);
    throw new Fault('deadline_exceeded', `The step «${step.name}» did not end within ${seconds} seconds.`, {
      evidence: errorText(error),
      cause: error,
    });
  } finally {
    clearTimeout(timer);
    await report.close();
  }
}

/** Rejects when an aborted step does not stop. */
async function settled(signal: AbortSignal, running: Promise<unknown>): Promise<never> {
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  const ended = running.then(
    () => undefined,
    () => undefined,
  );
  await Promise.race([ended, sleep(settleMs, undefined, { ref: false })]);
  throw signal.reason;
}

function retryDelayMs(step: BoundStep, attempt: number, error: unknown): number | undefined {
  const { retry } = step;
  if (!retry || attempt >= retry.attempts || retry.when?.(error) === false) return undefined;
  const grown = Math.min(retry.firstMs * 2 ** (attempt - 1), retry.maxMs);
  return grown * (0.75 + Math.random() / 2);
}

/** No failure of the step: the lease is released, and whoever claims the operation next goes on from the journal. */
function isDatabaseUnavailable(error: unknown): boolean {
  return error instanceof Fault && error.code === 'database_unavailable';
}

function hasCrashedTooOften(row: JournalRow | undefined, during: 'running' | 'undoing'): boolean {
  return row?.status === during && row.crashes >= maxCrashes;
}

function crashFault(step: string): OperationFault {
  return {
    code: 'worker_crashed',
    step,
    message: `The service stopped ${maxCrashes} times while it worked on the step «${step}», so it is not tried again.`,
    hint: 'If the service was stopped by hand each time, start the operation anew; otherwise its log says how it ended.',
    evidence: null,
  };
}

export function faultOf(error: unknown, step: string | null): OperationFault {
  const known = error instanceof Fault ? error : undefined;
  return {
    code: known?.code ?? 'internal_error',
    step,
    message: known?.message ?? 'A step failed unexpectedly.',
    hint: known?.hint ?? null,
    evidence: known ? (known.evidence ?? null) : errorText(error),
    ...(known?.retryAfterSeconds !== undefined && { retryAfterSeconds: known.retryAfterSeconds }),
  };
}

function undoFault(first: OperationFault | null, left: readonly string[]): OperationFault {
  const evidence = [first?.evidence, ...left].filter(Boolean).join('\n');
  const message = `Not everything could be undone.${first ? ` It failed first because: ${first.message}` : ''}`;
  return { code: 'undo_failed', step: first?.step ?? null, message, hint: first?.hint ?? null, evidence };
}
