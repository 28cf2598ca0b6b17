/** Backups in tests without a server: an environment that has data as far as the service knows, and stored backups. */
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { type LabS3, startS3 } from '../../lab/services/s3.ts';
import type { BackupTrigger } from '../../src/areas/backups/backups.ts';
import { insertPart, setPartStored } from '../../src/areas/backups/part-queries.ts';
import * as queries from '../../src/areas/backups/queries.ts';
import {
  type BackupId,
  type BackupPartId,
  type EnvironmentId,
  newId,
  type ServiceId,
  type WorkspaceId,
} from '../../src/ids.ts';
import { sql } from '../../src/store/sql.ts';
import type { Answer, TestApp } from './app.ts';
import { newPerson, type Person } from './people.ts';
import { temporaryFolder } from './postgres.ts';
import { addEnvironment } from './service-scene.ts';
import { sharedTestApp } from './shared-app.ts';
import { hangMs } from './until.ts';

export interface BackupScene {
  readonly service: TestApp;
  readonly person: Person;
  readonly workspaceId: WorkspaceId;
  readonly environmentId: EnvironmentId;
  readonly path: string;
  /** As the owner of the environment. */
  ask(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Links a server that does not answer, and a database that ran there. */
  withData(): Promise<ServiceId>;
  /** As after a backup that has succeeded, with one part for each content. */
  stored(input?: StoredInput): Promise<BackupId>;
}

export interface StoredInput {
  readonly contents?: readonly Buffer[];
  readonly serviceId?: ServiceId | null;
  readonly trigger?: BackupTrigger;
  readonly isVerified?: boolean;
}

export async function startBackupScene(env: Record<string, string> = {}): Promise<BackupScene> {
  const service = await sharedTestApp({ SLIPWAY_ALLOW_PRIVATE_EGRESS: 'on', ...env });
  const person = await newPerson(service);
  const { contexts, store } = service.app;
  const ctx = contexts.backups;
  const { db } = store;
  const ask: BackupScene['ask'] = (method, path, body) =>
    service.call(method, path, { token: person.token, ...(body !== undefined && { body }) });
  const workspace = await db.one<{ id: WorkspaceId }>(
    sql`select workspace_id as id from memberships where account_id = ${person.accountId}`,
  );
  if (!workspace) throw new Error('no workspace');
  const workspaceId = workspace.id;
  const environmentId = await addEnvironment(db, workspaceId, null);
  const signal = AbortSignal.timeout(hangMs);
  return {
    service,
    person,
    workspaceId,
    environmentId,
    ask,
    path: `/environments/${environmentId}/backups`,
    withData: async () => {
      const wish = { name: 'first', host: '127.0.0.1', port: 1, auth: { type: 'generated' } };
      const serverId = String((await ask('POST', '/servers', wish)).body.id);
      await db.run(sql`update servers set status = 'ready', provisioned_at = now() where id = ${serverId}`);
      await ask('PATCH', `/environments/${environmentId}/server`, { serverId });
      await ask('POST', `/environments/${environmentId}/services`, { services: [{ kind: 'postgres' }] });
      const row = await db.one<{ id: ServiceId }>(sql`
        update services set data_version = '17', server_id = ${serverId}
        where environment_id = ${environmentId} returning id`);
      if (!row) throw new Error('no service');
      return row.id;
    },
    stored: async ({
      contents = [Buffer.from('a dump')],
      serviceId = null,
      trigger = 'manual',
      isVerified = true,
    } = {}) => {
      const id = newId<BackupId>();
      const now = ctx.clock.now();
      const row = { id, environmentId, environmentName: 'Pro duction "é"', serviceId, trigger, verify: true };
      const more = { destinationId: null, operationId: null, requestedBy: null };
      await queries.insertBackup(db, workspaceId, { ...row, ...more }, now);
      for (const [position, content] of contents.entries()) {
        const partId = newId<BackupPartId>();
        const objectName = `${environmentId}/${id}/${partId}.zst`;
        const { bytes, sha256 } = await ctx.localStorage.put(objectName, only(content), { signal });
        await insertPart(db, workspaceId, {
          id: partId,
          backupId: id,
          position,
          sourceType: 'volume',
          serviceId: null,
          name: `files-${position}`,
          kind: 'volume',
          version: null,
          format: 'tar',
          objectName,
          keySealed: null,
          verification: { status: 'verified', reason: null, at: now.toISOString() },
        });
        const stored = {
          sizeBytes: bytes,
          dumpBytes: bytes,
          rawBytes: bytes,
          sha256,
          contentStats: {},
          warning: null,
        };
        await setPartStored(db, workspaceId, partId, stored, now);
      }
      const sizeBytes = contents.reduce((sum, { length }) => sum + length, 0);
      await queries.setBackupTotals(db, workspaceId, id, {
        sizeBytes,
        sha256: sha256Of(Buffer.concat(contents)),
      });
      await queries.setBackupSucceeded(db, workspaceId, id, isVerified ? now : null, now);
      return id;
    },
  };
}

async function* only(content: Buffer): AsyncGenerator<Buffer, void, undefined> {
  yield content;
}

export function sha256Of(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

export const s3Keys = { accessKeyId: 'LABKEY', secretAccessKey: 'lab-secret-of-an-s3' } as const;

export async function startTestS3(t: TestContext, address = '127.0.0.1'): Promise<LabS3> {
  const dir = temporaryFolder('s3');
  const s3 = await startS3({ address, port: 0, dir, keys: s3Keys });
  t.after(async () => {
    await s3.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return s3;
}
