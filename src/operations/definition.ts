/**
 * What an operation is made of. A step is idempotent: it checks before it acts, so that a second run does no harm. It
 * has an undo, or a reason why not, and stops when its signal is aborted.
 */
import type { FeedKey } from '../events/events.ts';
import type { OperationId, WorkspaceId } from '../ids.ts';
import type { Queryable } from '../store/database.ts';

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

export type EndState = 'succeeded' | 'failed' | 'cancelled';
export type OperationState = 'queued' | 'running' | EndState;

/** Why an operation ended badly, as it is stored and shown. */
export interface OperationFault {
  readonly code: string;
  readonly step: string | null;
  readonly message: string;
  readonly hint: string | null;
  readonly evidence: string | null;
  /** Retry-After of whoever refused, for those who retry by themselves. */
  readonly retryAfterSeconds?: number;
}

export interface StepContext {
  readonly operationId: OperationId;
  readonly workspaceId: WorkspaceId;
  /** The fencing token: grows each time the operation passes to another worker. Whatever refuses lower ones is safe from a stale worker. */
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
  /** Which failures are retried; all, by default. */
  readonly when?: (error: unknown) => boolean;
}

export type Undo<Input> = ((input: Input, context: StepContext) => Promise<void>) | { readonly none: string };

/** What a step has that works inside a transaction: nothing to wait for, nothing to stop, nothing to say. */
export type RowsContext = Pick<StepContext, 'operationId' | 'workspaceId' | 'epoch' | 'outputs'>;

export interface Step<Input> {
  readonly name: string;
  readonly deadlineMs: number;
  readonly retry?: Retry;
  readonly run: (input: Input, context: StepContext) => Promise<Json | undefined>;
  readonly undo: Undo<Input>;
  /**
   * What `run` does, where that is only rows: it is done in the transaction that writes its entries, together with the end
   * of the step before and the beginning of the next. Where that fails the step is run by itself, and fails as others do.
   */
  readonly rows?: (tx: Queryable, input: Input, context: RowsContext) => Promise<Json | undefined>;
  /**
   * The operation has committed: from here on it cannot be cancelled, and where this step fails for good, the operation
   * succeeds all the same. The failure is logged; what is left behind is for the scheduled clean-up.
   */
  readonly isPostCommit?: true;
  /**
   * Whether what the steps before it returned leaves it nothing to do: then it is not begun, and the journal says nothing
   * of it. It must not look at anything else: whoever resumes has to find the same.
   */
  readonly isIdle?: (outputs: StepContext['outputs']) => boolean;
}

/** Steps that only the input knows cannot be those from which on nothing is cancelled: that is asked of the kind alone. */
type EarlyStep<Input> = Omit<Step<Input>, 'isPostCommit'>;

export type StateChange =
  | { readonly state: 'running'; readonly step: string | null }
  | { readonly state: 'succeeded' }
  | { readonly state: 'failed' | 'cancelled'; readonly fault: OperationFault | null };

/**
 * Writes what an area shows of an operation, in the transaction of the change, so that it is never behind the journal.
 * Called before the events of the change are appended. Only rows: it must not wait for anything else.
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

/** Removes references to pruned operations, in the transaction that deletes them. */
export type OnPrune = (tx: Queryable, pruned: readonly PrunedOperation[]) => Promise<unknown>;

export interface OperationDefinition<Input> {
  readonly kind: string;
  /** Parses the stored input; throws on what it does not know. */
  readonly readInput: (stored: unknown) => Input;
  /** The same for every run, or by its input: whoever resumes finds the same ones. */
  readonly steps: readonly Step<Input>[] | ((input: Input) => readonly EarlyStep<Input>[]);
  readonly onStateChange?: OnStateChange<Input>;
  readonly onPrune?: OnPrune;
  /** The feed for the log lines of its steps, where users watch another than the operation's own. */
  readonly logFeed?: (input: Input) => FeedKey['feedId'];
}

/** A step with its input bound. */
export interface BoundStep {
  readonly name: string;
  readonly deadlineMs: number;
  readonly retry: Retry | undefined;
  readonly isPostCommit: boolean;
  readonly isIdle: ((outputs: StepContext['outputs']) => boolean) | undefined;
  readonly run: (context: StepContext) => Promise<Json | undefined>;
  readonly rows: ((tx: Queryable, context: RowsContext) => Promise<Json | undefined>) | undefined;
  readonly undo: ((context: StepContext) => Promise<void>) | undefined;
}

export interface OperationKind {
  readonly kind: string;
  /** Names. From the first of them on it cannot be cancelled. */
  readonly postCommitSteps: ReadonlySet<string>;
  readonly bind: (stored: unknown) => readonly BoundStep[];
  readonly onStateChange?: OnStateChange<unknown>;
  readonly onPrune?: OnPrune;
  readonly logFeed?: (stored: unknown) => FeedKey['feedId'] | undefined;
}

export function defineOperation<Input>(definition: OperationDefinition<Input>): OperationKind {
  const { onStateChange, onPrune, logFeed, readInput, steps } = definition;
  const known = typeof steps === 'function' ? [] : steps;
  const names = known.map((step) => step.name);
  if (new Set(names).size !== names.length) throw new Error(`${definition.kind} has two steps of one name`);
  const postCommitSteps = known.filter(({ isPostCommit }) => isPostCommit);
  if (known.slice(-postCommitSteps.length || Infinity).some((step) => !postCommitSteps.includes(step)))
    throw new Error(`${definition.kind} has a step after a post-commit one`);
  return {
    kind: definition.kind,
    postCommitSteps: new Set(postCommitSteps.map(({ name }) => name)),
    ...(onStateChange && {
      onStateChange: async (tx, operation, change) => {
        const known = tryReadInput(readInput, operation.input);
        if (known) await onStateChange(tx, { ...operation, input: known.input }, change);
      },
    }),
    ...(onPrune && { onPrune }),
    ...(logFeed && {
      logFeed: (stored) => {
        const known = tryReadInput(readInput, stored);
        return known && logFeed(known.input);
      },
    }),
    bind: (stored) => {
      const input = readInput(stored);
      const bound: readonly Step<Input>[] = typeof steps === 'function' ? steps(input) : steps;
      return bound.map(({ run, rows, undo, isPostCommit = false, ...step }) => ({
        name: step.name,
        deadlineMs: step.deadlineMs,
        retry: step.retry,
        isPostCommit,
        isIdle: step.isIdle,
        run: (context) => run(input, context),
        rows: rows && ((tx, context) => rows(tx, input, context)),
        undo: typeof undo === 'function' ? (context) => undo(input, context) : undefined,
      }));
    },
  };
}

/** An operation whose input cannot be parsed has to end all the same. */
function tryReadInput<Input>(
  readInput: (stored: unknown) => Input,
  stored: unknown,
): { readonly input: Input } | undefined {
  try {
    return { input: readInput(stored) };
  } catch {
    return undefined;
  }
}
