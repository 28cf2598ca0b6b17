/**
 * What an operation is made of. A step may be run twice and the second run does no harm: it looks before it
 * acts. It says how to undo it, or why that cannot be. It stops when its signal says so.
 */
import type { FeedKey } from '../events/events.ts';
import type { OperationId, WorkspaceId } from '../ids.ts';
import type { Queryable } from '../store/database.ts';
import type { OperationFault } from './operations.ts';

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

export interface StepContext {
  readonly operationId: OperationId;
  readonly workspaceId: WorkspaceId;
  /** Grows each time the operation passes to another worker: whatever refuses lower ones is safe from a stale one. */
  readonly epoch: number;
  readonly attempt: number;
  /** What earlier steps returned, by their names. */
  readonly outputs: ReadonlyMap<string, Json>;
  /** Aborted by cancel, deadline, loss of the lease, or a stop of this instance. */
  readonly signal: AbortSignal;
  log(line: string): void;
  progress(fraction: number, text?: string): void;
}

export interface Retry {
  readonly attempts: number;
  readonly firstMs: number;
  readonly maxMs: number;
  /** Which failures are worth another try; all, if not said. */
  readonly when?: (error: unknown) => boolean;
}

export type Undo<Input> = ((input: Input, context: StepContext) => Promise<void>) | { readonly none: string };

export interface Step<Input> {
  readonly name: string;
  readonly deadlineMs: number;
  readonly retry?: Retry;
  readonly run: (input: Input, context: StepContext) => Promise<Json | undefined>;
  readonly undo: Undo<Input>;
  /**
   * The operation has done what it was for. From here on it cannot be cancelled, and where this step fails for good, the
   * operation ends well all the same: what was left lying about is told, and is for others to clear away.
   */
  readonly isPostCommit?: true;
}

/** What has just become of an operation. */
export type StateChange =
  | { readonly state: 'running'; readonly step: string | null }
  | { readonly state: 'succeeded' }
  | { readonly state: 'failed' | 'cancelled'; readonly fault: OperationFault | null };

/**
 * What an area keeps of an operation's course, written in the transaction that changes it, so that it is never behind.
 * It is called before the events of the change are appended. Only rows: it must not wait for anything else.
 */
export type OnStateChange<Input> = (
  tx: Queryable,
  operation: { readonly operationId: OperationId; readonly workspaceId: WorkspaceId; readonly input: Input },
  change: StateChange,
) => Promise<void>;

export interface PrunedOperation {
  readonly workspaceId: WorkspaceId;
  readonly id: OperationId;
  readonly kind: string;
  readonly subjectId: string | null;
}

/** Their rows are taken away after their time: in the same transaction, whoever names them with something else stops. */
export type OnPrune = (tx: Queryable, gone: readonly PrunedOperation[]) => Promise<unknown>;

export interface OperationDefinition<Input> {
  readonly kind: string;
  /** From what was stored; refuses what it does not know. */
  readonly readInput: (stored: unknown) => Input;
  readonly steps: readonly Step<Input>[];
  readonly onStateChange?: OnStateChange<Input>;
  readonly onPrune?: OnPrune;
  /** Where the lines of its steps are told, if not in the operation's own feed: what users watch instead of it. */
  readonly logFeed?: (input: Input) => FeedKey['feedId'];
}

/** A step with its input already in hand. */
export interface BoundStep {
  readonly name: string;
  readonly deadlineMs: number;
  readonly retry: Retry | undefined;
  readonly isPostCommit: boolean;
  readonly run: (context: StepContext) => Promise<Json | undefined>;
  readonly undo: ((context: StepContext) => Promise<void>) | undefined;
}

export interface OperationKind {
  readonly kind: string;
  /** The names of the steps from which on it cannot be cancelled. */
  readonly postCommitSteps: ReadonlySet<string>;
  readonly bind: (stored: unknown) => readonly BoundStep[];
  readonly onStateChange?: OnStateChange<unknown>;
  readonly onPrune?: OnPrune;
  readonly logFeed?: (stored: unknown) => FeedKey['feedId'] | undefined;
}

export function defineOperation<Input>(definition: OperationDefinition<Input>): OperationKind {
  const names = definition.steps.map((step) => step.name);
  if (new Set(names).size !== names.length) throw new Error(`${definition.kind} has two steps of one name`);
  const { onStateChange, onPrune, logFeed, readInput } = definition;
  const postCommitSteps = definition.steps.filter(({ isPostCommit }) => isPostCommit);
  if (
    definition.steps
      .slice(-postCommitSteps.length || Infinity)
      .some((step) => !postCommitSteps.includes(step))
  )
    throw new Error(`${definition.kind} has work to do after an afterthought`);
  return {
    kind: definition.kind,
    postCommitSteps: new Set(postCommitSteps.map(({ name }) => name)),
    ...(onStateChange && {
      onStateChange: async (tx, operation, change) => {
        const known = readOrNothing(readInput, operation.input);
        if (known) await onStateChange(tx, { ...operation, input: known.input }, change);
      },
    }),
    ...(onPrune && { onPrune }),
    ...(logFeed && {
      logFeed: (stored) => {
        const known = readOrNothing(readInput, stored);
        return known && logFeed(known.input);
      },
    }),
    bind: (stored) => {
      const input = readInput(stored);
      return definition.steps.map(({ name, deadlineMs, retry, run, undo, isPostCommit = false }) => ({
        name,
        deadlineMs,
        retry,
        isPostCommit,
        run: (context) => run(input, context),
        undo: typeof undo === 'function' ? (context) => undo(input, context) : undefined,
      }));
    },
  };
}

/** An operation whose input cannot be read has to end all the same; nobody knows whom to tell. */
function readOrNothing<Input>(
  readInput: (stored: unknown) => Input,
  stored: unknown,
): { readonly input: Input } | undefined {
  try {
    return { input: readInput(stored) };
  } catch {
    return undefined;
  }
}
