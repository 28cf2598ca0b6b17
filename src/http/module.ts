/** What an area gives to the composition: its paths, its operations, what it does by itself, what it starts and stops. */
import type { OperationKind } from '../operations/definition.ts';
import type { Schedule } from '../operations/queue.ts';
import type { NotifyHandler } from '../store/listener.ts';
import type { Routes } from './routes.ts';

export interface Module {
  readonly routes?: (routes: Routes) => void;
  readonly operations?: readonly OperationKind[];
  readonly schedules?: readonly Schedule[];
  /** By channel: what other instances tell it through the database. */
  readonly hears?: Readonly<Record<string, NotifyHandler>>;
  /** Once everyone can be served. */
  readonly start?: () => unknown;
  /** Ends answers that would go on for ever, so that the server can close. */
  readonly endStreams?: () => void;
  /** After the last request. */
  readonly stop?: () => unknown;
}
