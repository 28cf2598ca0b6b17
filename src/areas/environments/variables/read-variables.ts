/** Variables as shown: the value of a secret one never, of any other as it is. */
import { Fault } from '../../../fault.ts';
import type { EnvironmentId, WorkspaceId } from '../../../ids.ts';
import type { Page } from '../../../page.ts';
import type { Queryable } from '../../../store/database.ts';
import type { Sealer } from '../../../store/sealed.ts';
import { environmentNotFound, variablePlace } from '../environments.ts';
import { findEnvironment } from '../queries.ts';
import * as queries from './queries.ts';

export type ShownVariable = Awaited<ReturnType<typeof shown>>;

export async function listVariables(
  db: Queryable,
  sealer: Sealer,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  page: Page,
) {
  if (!(await findEnvironment(db, workspaceId, id))) throw environmentNotFound();
  const { before, limit } = page;
  const rows = await queries.pageVariables(db, workspaceId, id, { before, limit: limit + 1 });
  const { items, nextCursor } = page.answer(rows, (row) => row);
  return { items: await Promise.all(items.map((row) => shown(db, sealer, workspaceId, row))), nextCursor };
}

export async function readVariable(
  db: Queryable,
  sealer: Sealer,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  key: string,
) {
  if (!(await findEnvironment(db, workspaceId, id))) throw environmentNotFound();
  const row = await queries.findVariable(db, workspaceId, id, key);
  if (!row) throw noVariable();
  return shown(db, sealer, workspaceId, row);
}

/** Those of these keys, in their order. */
export async function readVariables(
  db: Queryable,
  sealer: Sealer,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  keys: readonly string[],
) {
  const rows = new Map(
    (await queries.listVariables(db, workspaceId, id)).map((row) => [row.key, row] as const),
  );
  const found = keys.map((key) => rows.get(key)).filter((row) => row !== undefined);
  return Promise.all(found.map((row) => shown(db, sealer, workspaceId, row)));
}

async function shown(db: Queryable, sealer: Sealer, workspaceId: WorkspaceId, row: queries.VariableRow) {
  const { id, key, isSecret, target, valueSealed } = row;
  const value = isSecret
    ? null
    : (await sealer.open(db, variablePlace(workspaceId, id), valueSealed)).reveal();
  return { key, value, secret: isSecret, target, updatedAt: row.updatedAt.toISOString() };
}

export function noVariable(): Fault {
  return new Fault('not_found', 'The environment has no such variable.');
}
