/** What the servers area works with, on a database alone, and servers in it without the API. */
import type { TestContext } from 'node:test';
import type { TargetAccess } from '../../src/areas/environments/placement/open-target.ts';
import { environmentsOn } from '../../src/areas/environments/read-environments.ts';
import { knownSecrets } from '../../src/areas/reconcile/known-secrets.ts';
import { insertServer } from '../../src/areas/servers/queries.ts';
import { privateKeyContext, type ServersContext } from '../../src/areas/servers/servers.ts';
import { newId, type ServerId, type WorkspaceId } from '../../src/ids.ts';
import { createLog } from '../../src/log.ts';
import { OperationQueue } from '../../src/operations/queue.ts';
import { generateKeyPair } from '../../src/remote/keys/keys.ts';
import { createRemotePool } from '../../src/remote/pool.ts';
import type { Database } from '../../src/store/database.ts';
import { Listener } from '../../src/store/listener.ts';
import { checkMasterKeys, type MasterKeys } from '../../src/store/master-keys.ts';
import { Sealer } from '../../src/store/sealed.ts';
import { TestClock } from './app.ts';
import { labHosts } from './remote.ts';

export interface TestServersContext extends ServersContext, TargetAccess {
  readonly clock: TestClock;
}

export async function serversContext(
  t: TestContext,
  { url, db }: { readonly url: string; readonly db: Database },
  masterKeys: MasterKeys,
): Promise<TestServersContext> {
  await checkMasterKeys(db, masterKeys);
  const log = createLog('silent');
  const queue = new OperationQueue(db, new Listener({ connectionString: url }, log), log);
  const pool = createRemotePool(labHosts, log);
  t.after(async () => {
    await pool.close();
    await queue.stop();
  });
  const sealer = new Sealer(masterKeys);
  const secretsOf: TargetAccess['secretsOf'] = (workspaceId, id) =>
    knownSecrets({ db, sealer }, workspaceId, id);
  const resolveHost = labHosts;
  return { db, clock: new TestClock(), sealer, queue, pool, resolveHost, log, secretsOf, environmentsOn };
}

export interface KnownServer {
  readonly id: ServerId;
  /** For the server's own list of keys. */
  readonly publicKey: string;
}

/** A server with a key of its own, as after registration with a generated one. */
export async function addServer(
  { db, sealer, clock }: Pick<ServersContext, 'db' | 'sealer' | 'clock'>,
  workspaceId: WorkspaceId,
  way: { readonly host: string; readonly port?: number; readonly hostKey?: string },
): Promise<KnownServer> {
  const id = newId<ServerId>();
  const { privateKey, publicKey } = await generateKeyPair(`slipway-${id}`);
  const { host, port = 22, hostKey = null } = way;
  await db.transaction(async (tx) => {
    const privateKeySealed = await sealer.seal(tx, privateKeyContext(workspaceId, id), privateKey);
    const row = { id, name: id, host, port, username: 'root', privateKeySealed, publicKey, hostKey };
    await insertServer(tx, workspaceId, row, clock.now());
  });
  return { id, publicKey };
}
