/**
 * What the service and the process of an analysis say to each other. The service hands over a task and then answers
 * questions: the list of files, in parts, and the contents of some, one by one. Files are asked for by their place in
 * the list, so that what the service has to read of an answer stays small whatever the paths are.
 */
import type { BuildOrder } from '../dockerfile/generate-dockerfile.ts';
import type { ProcessLimits } from '../limits.ts';
import type { TreeEntry } from '../tree.ts';

export type Task =
  | { readonly kind: 'analyse'; readonly rootDirectory: string }
  | { readonly kind: 'dockerfile'; readonly order: BuildOrder };

export type Limit = 'processor time' | 'memory' | 'time' | 'size of the result';

export type ToProcess =
  | { readonly kind: 'task'; readonly task: Task; readonly limits: ProcessLimits }
  | { readonly kind: 'entries'; readonly entries: readonly TreeEntry[] }
  | { readonly kind: 'listed'; readonly isComplete: boolean }
  | { readonly kind: 'file'; readonly at: number; readonly content: Uint8Array }
  | { readonly kind: 'read' };

export interface ToldFault {
  readonly code: string;
  readonly message: string;
  readonly hint: string | undefined;
  readonly evidence: string | undefined;
  readonly errors: readonly { readonly path: string; readonly message: string }[] | undefined;
}

export type FromProcess =
  | { readonly kind: 'ready' }
  | { readonly kind: 'list'; readonly most: number }
  | { readonly kind: 'read'; readonly files: readonly number[] }
  /** As JSON. `isTired`: it holds so much memory that a new process is better. */
  | { readonly kind: 'done'; readonly result: string; readonly isTired: boolean }
  | { readonly kind: 'fault'; readonly fault: ToldFault }
  | { readonly kind: 'failed'; readonly message: string }
  /** `at`: what of the repository it was at. */
  | { readonly kind: 'over'; readonly limit: Limit; readonly at: string };
