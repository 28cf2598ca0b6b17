/** The kinds of operations that this instance knows, with their hooks. */
import { Fault } from '../fault.ts';
import type { OperationId, WorkspaceId } from '../ids.ts';
import type { Queryable } from '../store/database.ts';
import type { OperationKind, PrunedOperation, StateChange } from './definition.ts';

export class OperationKinds {
  readonly #kinds = new Map<string, OperationKind>();

  add(kind: OperationKind): void {
    if (this.#kinds.has(kind.kind)) throw new Error(`two operations are named ${kind.kind}`);
    this.#kinds.set(kind.kind, kind);
  }

  get names(): string[] {
    return [...this.#kinds.keys()];
  }

  get(name: string): OperationKind {
    const kind = this.#kinds.get(name);
    if (!kind) throw new Fault('internal_error', `No operation is named ${name}.`);
    return kind;
  }

  isPostCommitStep(kind: string, step: string): boolean {
    return this.#kinds.get(kind)?.postCommitSteps.has(step) ?? false;
  }

  logFeedOf(operation: { readonly id: OperationId; readonly kind: string; readonly input: unknown }) {
    return this.#kinds.get(operation.kind)?.logFeed?.(operation.input) ?? operation.id;
  }

  /** In the transaction of the change. Nobody follows operations of a kind that no longer exists. */
  async onStateChange(
    tx: Queryable,
    operation: {
      readonly id: OperationId;
      readonly workspaceId: WorkspaceId;
      readonly kind: string;
      readonly input: unknown;
    },
    change: StateChange,
  ): Promise<void> {
    const { id: operationId, workspaceId, input } = operation;
    await this.#kinds.get(operation.kind)?.onStateChange?.(tx, { operationId, workspaceId, input }, change);
  }

  /** In the transaction that deletes them. */
  async onPrune(tx: Queryable, pruned: readonly PrunedOperation[]): Promise<void> {
    for (const [kind, each] of Map.groupBy(pruned, ({ kind }) => kind))
      await this.#kinds.get(kind)?.onPrune?.(tx, each);
  }
}
