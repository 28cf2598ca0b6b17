/**
 * What a step of a deployment may leave in our database of what others print: the beginning as it comes, and the end, with
 * a line of ours between them that says how much was left out. A step that is repeated, or taken up by another worker,
 * prints again; so the deployment as a whole has a bound, too, beyond which a step leaves its last lines alone.
 */
import { feedSize } from '../../events/events.ts';
import type { WorkspaceId } from '../../ids.ts';
import type { StepContext } from '../../operations/definition.ts';
import type { Queryable } from '../../store/database.ts';
import type { Input } from './steps/step-context.ts';

interface Bound {
  readonly lines: number;
  readonly characters: number;
}

interface LogLimits {
  readonly head: Bound;
  readonly tail: Bound;
}

const mebibyte = 1024 * 1024;
const ofStep: LogLimits = {
  head: { lines: 10_000, characters: mebibyte },
  tail: { lines: 1_000, characters: mebibyte / 8 },
};
const ofSpentDeployment: LogLimits = {
  head: { lines: 0, characters: 0 },
  tail: { lines: 20, characters: 4_096 },
};
const mostOfDeployment = { events: 30_000, bytes: 8 * mebibyte };
/** Longer lines are cut when they are stored. */
const mostOfLine = 8_192;

export async function withBoundedLog<T>(
  db: Queryable,
  { deploymentId }: Pick<Input, 'deploymentId'>,
  step: StepContext,
  work: (step: StepContext) => Promise<T>,
): Promise<T> {
  const log = new BoundedLog((line) => step.log(line), await limitsOf(db, step.workspaceId, deploymentId));
  try {
    return await work({ ...step, log: (line) => log.push(line) });
  } finally {
    log.end();
  }
}

async function limitsOf(
  db: Queryable,
  workspaceId: WorkspaceId,
  deploymentId: Input['deploymentId'],
): Promise<LogLimits> {
  const { events, bytes } = await feedSize(db, { workspaceId, feedId: deploymentId });
  const isSpent = events > mostOfDeployment.events || bytes > mostOfDeployment.bytes;
  return isSpent ? ofSpentDeployment : ofStep;
}

class BoundedLog {
  readonly #emit: (line: string) => void;
  readonly #limits: LogLimits;
  readonly #tail: string[] = [];
  #shown: Bound = { lines: 0, characters: 0 };
  #kept = 0;
  #isOver = false;
  #lost: Bound = { lines: 0, characters: 0 };

  constructor(emit: (line: string) => void, limits: LogLimits) {
    this.#emit = emit;
    this.#limits = limits;
  }

  push(whole: string): void {
    const line = whole.slice(0, mostOfLine);
    const { head, tail } = this.#limits;
    const next = plus(this.#shown, line);
    if (!this.#isOver && next.lines <= head.lines && next.characters <= head.characters) {
      this.#shown = next;
      this.#emit(line);
      return;
    }
    if (!this.#isOver) this.#emit('[Slipway: the log of this step is full; only its last lines follow]');
    this.#isOver = true;
    this.#tail.push(line);
    this.#kept += line.length;
    while (this.#tail.length > tail.lines || this.#kept > tail.characters) {
      const first = this.#tail.shift() ?? '';
      this.#kept -= first.length;
      this.#lost = plus(this.#lost, first);
    }
  }

  /** What was held back, when there will be no more. */
  end(): void {
    const { lines, characters } = this.#lost;
    if (lines > 0) this.#emit(`[Slipway: ${lines} lines, ${characters} characters were left out here]`);
    for (const line of this.#tail.splice(0)) this.#emit(line);
  }
}

function plus({ lines, characters }: Bound, line: string): Bound {
  return { lines: lines + 1, characters: characters + line.length };
}
