/** How soon an operation starts after it was stored, and how many steps that do nothing run in a second. */
import { rmSync } from 'node:fs';
import { startApp } from '../src/app.ts';
import { readConfig } from '../src/config.ts';
import type { OperationId, WorkspaceId } from '../src/ids.ts';
import { createLog } from '../src/log.ts';
import { defineOperation } from '../src/operations/definition.ts';
import { enqueueOperation } from '../src/operations/operations.ts';
import { sql } from '../src/store/sql.ts';
import { newWorkspace } from '../test/support/operations.ts';
import { temporaryFolder } from '../test/support/postgres.ts';
import { type Figure, median, milliseconds, perSecond, quantile } from './figure.ts';

const starts = 60;
const together = 40;
const stepsEach = 25;

export async function benchOperations(): Promise<Figure[]> {
  const begun = new Map<OperationId, () => void>();
  const kinds = [
    defineOperation({
      kind: 'nothing',
      readInput: () => undefined,
      steps: Array.from({ length: stepsEach }, (_, index) => ({
        name: `step-${index}`,
        deadlineMs: 10_000,
        run: async (_input: undefined, { operationId }) => {
          begun.get(operationId)?.();
          return undefined;
        },
        undo: { none: 'there is nothing to undo' },
      })),
    }),
  ];
  const dataDir = temporaryFolder('bench');
  const config = readConfig({
    SLIPWAY_DATA_DIR: dataDir,
    SLIPWAY_PORT: '0',
    SLIPWAY_LIMIT_OPERATIONS_PER_WORKSPACE: '50',
  });
  const app = await startApp(config, createLog('silent'), { kinds });
  const { db } = app.store;
  const enqueue = (workspaceId: WorkspaceId) =>
    db.transaction((tx) => enqueueOperation(tx, app.queue, { workspaceId, kind: 'nothing', input: null }));
  const idle = async () => {
    for (;;) {
      const row = await db.one<{ open: number }>(sql`
        select count(*)::int as open from operations where finished_at is null`);
      if (row?.open === 0) return;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  try {
    const workspace = await newWorkspace(db);
    await enqueue(workspace);
    await idle();
    const waits: number[] = [];
    for (let count = 0; count < starts; count += 1) {
      const began = performance.now();
      const id = await enqueue(workspace);
      const stored = performance.now();
      await new Promise<void>((resolve) => begun.set(id, resolve));
      waits.push(performance.now() - stored);
      if (performance.now() - began > 5_000) throw new Error('an operation did not start');
      await idle();
    }
    const workspaces = await Promise.all(Array.from({ length: together }, () => newWorkspace(db)));
    const began = performance.now();
    await Promise.all(workspaces.map(enqueue));
    await idle();
    const seconds = (performance.now() - began) / 1000;
    return [
      { what: 'from stored to started, median', slipway: milliseconds(median(waits)) },
      { what: 'from stored to started, p95', slipway: milliseconds(quantile(waits, 0.95)) },
      {
        what: `steps that do nothing, ${together} operations at once`,
        slipway: perSecond((together * stepsEach) / seconds),
      },
    ];
  } finally {
    await app.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
