/** An operation of ten steps, each with an effect outside the database. Its input says what shall go wrong. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../src/fault.ts';
import { defineOperation, type StepContext } from '../../src/operations/definition.ts';

export interface TenStepsInput {
  readonly world: string;
  /** The journal point, counted from 0, at which the first worker kills itself. */
  readonly killAt?: number;
  /** The step that fails. */
  readonly failAt?: string;
  /** How often it fails before it works; always, if not said. */
  readonly failures?: number;
  /** Every step does its work twice. */
  readonly twice?: boolean;
  /** The step that never ends by itself. */
  readonly hangAt?: string;
  /** For how many workers it does so; for all, if not said. */
  readonly hangs?: number;
  /** The step whose undo fails. */
  readonly stuckAt?: string;
  /** What takes the process down with it, in so many of its first lives. */
  readonly crash?: { readonly step: string; readonly in: 'run' | 'undo'; readonly lives: number };
  readonly stepMs?: number;
}

export const stepNames = Array.from({ length: 10 }, (_, index) => `step-${index + 1}`);

function readTenStepsInput(stored: unknown): TenStepsInput {
  const input = Object(stored);
  if (typeof input.world !== 'string') throw new Fault('invalid_input', 'The input names no world.');
  return input;
}

export const tenSteps = defineOperation<TenStepsInput>({
  kind: 'ten-steps',
  readInput: readTenStepsInput,
  steps: stepNames.map((name) => ({
    name,
    deadlineMs: 3_000,
    retry: { attempts: 3, firstMs: 50, maxMs: 200, when: (error) => !(error instanceof Fault) },
    run: async (input, context) => {
      await act(input, context, name);
      crashIfPlanned(input, context, name, 'run');
      if (input.twice) await act(input, context, name);
      context.log(`${name} has acted`);
      context.progress(1, name);
      if (input.stepMs) await sleep(input.stepMs, undefined, { signal: context.signal });
      if (input.hangAt === name && context.epoch <= (input.hangs ?? context.epoch))
        await sleep(60_000, undefined, { signal: context.signal });
      if (input.failAt === name && input.failures === undefined) {
        throw new Fault('bad_request', `${name} failed as planned.`, { hint: 'None.', evidence: 'the plan' });
      }
      if (input.failAt === name && context.attempt <= (input.failures ?? 0)) throw new Error('not yet');
      return { acted: name };
    },
    undo: async (input, context) => {
      crashIfPlanned(input, context, name, 'undo');
      if (input.stuckAt === name) throw new Error('stuck as planned');
      await call(input, context, name, 'DELETE');
    },
  })),
});

function crashIfPlanned(
  { crash }: TenStepsInput,
  { epoch }: StepContext,
  name: string,
  during: 'run' | 'undo',
): void {
  if (crash?.step === name && crash.in === during && epoch <= crash.lives)
    process.kill(process.pid, 'SIGKILL');
}

/** Looks before it acts. */
async function act(input: TenStepsInput, context: StepContext, name: string): Promise<void> {
  const found = await call(input, context, name, 'GET');
  if (found.status === 404) await call(input, context, name, 'POST');
}

async function call(
  input: TenStepsInput,
  context: StepContext,
  name: string,
  method: string,
): Promise<Response> {
  const answer = await fetch(`${input.world}/${context.operationId}/${name}`, {
    method,
    headers: { 'x-epoch': String(context.epoch) },
    signal: context.signal,
  });
  if (answer.status === 409) throw new Error('the world has seen a newer epoch');
  return answer;
}
