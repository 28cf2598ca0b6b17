/**
 * What is done on the machine. `npm run slipway -- backup FILE` and `restore FILE`: Slipway's own state, out of its database
 * and into an empty one; `workspaces`, `owner` and `operator`: where nobody is left who can sign in and may do what is needed;
 * `remove-factors`: where somebody lost both the phone and the recovery codes.
 * A backup may be made while the service runs. The master key is not in it: without the key nothing sealed can be opened,
 * with both everything can, so they belong in two places.
 */
import { existsSync } from 'node:fs';
import { removeAllFactors } from './areas/accounts/second-factors/change-factors.ts';
import { allWorkspaces, makeOperator, makeOwner } from './areas/workspaces/recover.ts';
import { systemClock } from './clock.ts';
import { type Config, readConfig } from './config.ts';
import { errorText, Fault } from './fault.ts';
import { createLog } from './log.ts';
import { cancelUnfinished } from './operations/operations.ts';
import { layoutOf } from './store/data-folder.ts';
import { connectDatabase, type Database } from './store/database.ts';
import { loadMasterKeys } from './store/master-keys.ts';
import { openDatabase } from './store/open-database.ts';
import { dumpState } from './store/state/dump-state.ts';
import { loadState, requireCompatibleState, requireEmptyDatabase } from './store/state/load-state.ts';
import { checkStateFile } from './store/state/state-file.ts';

const usage = `Usage:
  npm run slipway -- backup FILE    writes Slipway's own state to FILE; the service may run meanwhile
  npm run slipway -- restore FILE   puts it into an empty data folder or database; the service must not run there
  npm run slipway -- workspaces              lists all workspaces with their owners; the service may run meanwhile
  npm run slipway -- owner EMAIL WORKSPACE   makes an account an owner of a workspace; the service may run meanwhile
  npm run slipway -- operator EMAIL          lets an account look after the installation; the service may run meanwhile
  npm run slipway -- remove-factors EMAIL    removes the second factors of an account; the service may run meanwhile
`;

const log = createLog('warn');
const say = (line: string) => process.stdout.write(`${line}\n`);

try {
  const [command, file, ...more] = process.argv.slice(2);
  if (command === 'backup' && file !== undefined && more.length === 0) await backUp(file);
  else if (command === 'restore' && file !== undefined && more.length === 0) await restore(file);
  else if (command === 'workspaces' && file === undefined)
    await withDatabase(readConfig(process.env), 'running too', async (db) => {
      for await (const { id, name, owners } of allWorkspaces(db))
        say(`${id}  ${name}  ${owners.join(', ') || 'no owner'}`);
    });
  else if (command === 'owner' && file !== undefined && more[0] !== undefined && more.length === 1)
    await recover(`${file} is an owner of ${more[0]} now.`, (db) =>
      makeOwner(db, file, more[0] ?? '', systemClock.now()),
    );
  else if (command === 'operator' && file !== undefined && more.length === 0)
    await recover(`${file} looks after the installation now.`, (db) => makeOperator(db, file));
  else if (command === 'remove-factors' && file !== undefined && more.length === 0)
    await recover(`${file} has no second factor any more, and signs in with the password alone.`, (db) =>
      removeAllFactors(db, file, systemClock.now()),
    );
  else {
    process.stderr.write(usage);
    process.exitCode = command === 'help' || command === '--help' ? 0 : 2;
  }
} catch (error) {
  process.stderr.write(`Slipway: ${errorText(error)}\n`);
  if (!(error instanceof Fault)) throw error;
  if (error.hint) process.stderr.write(`${error.hint}\n`);
  process.exitCode = 1;
}

async function backUp(file: string): Promise<void> {
  if (existsSync(file))
    throw new Fault('state_refused', `${file} is there already. Name a file that is not.`);
  const config = readConfig(process.env);
  await withDatabase(config, 'running too', async (db) => {
    const { tables, rows } = await dumpState(db, file, systemClock.now(), showProgress);
    endProgress();
    const { counts } = await checkStateFile(file);
    if (counts.rows !== rows || counts.tables !== tables)
      throw new Fault('state_file_damaged', `${file} does not read back as it was written.`);
    say(`Wrote ${file}: ${rows} rows of ${tables} tables, read back and whole.`);
    say(
      config.masterKeys
        ? 'The master key is not in it. Keep SLIPWAY_MASTER_KEY somewhere else, and safe.'
        : `The master key is not in it. Keep a copy of ${layoutOf(config.dataDir).masterKeyFile} somewhere else, and safe.`,
    );
  });
}

async function restore(file: string): Promise<void> {
  const config = readConfig(process.env);
  const { masterKeyFile } = layoutOf(config.dataDir);
  if (!config.masterKeys && !existsSync(masterKeyFile)) {
    throw new Fault(
      'wrong_master_key',
      `There is no master key. Put the one that belongs to the backup at ${masterKeyFile} (mode 0600), or set SLIPWAY_MASTER_KEY.`,
    );
  }
  const { head, counts } = await checkStateFile(file);
  requireCompatibleState(file, head, loadMasterKeys(masterKeyFile, config.masterKeys));
  await withDatabase(config, 'alone', async (db) => {
    await requireEmptyDatabase(db);
    let cancelled = 0;
    await loadState(db, file, head, log, async (tx) => {
      cancelled = await cancelUnfinished(tx);
    });
    say(`Restored the state of ${head.createdAt}: ${counts.rows} rows of ${counts.tables} tables.`);
    if (cancelled > 0)
      say(`${cancelled} operations were under way then; they are cancelled at the next start.`);
    say('Start the service: npm start');
  });
}

async function recover(done: string, work: (db: Database) => Promise<void>): Promise<void> {
  await withDatabase(readConfig(process.env), 'running too', work);
  say(done);
}

async function withDatabase(
  config: Config,
  who: 'alone' | 'running too',
  work: (db: Database) => Promise<void>,
): Promise<void> {
  const reached = await openDatabase(config, log, who);
  const db = connectDatabase(reached.connection, log);
  try {
    await work(db);
  } finally {
    await db.close();
    await reached.close();
  }
}

/** Only for a person: a log gets the last line alone. */
function showProgress(table: string): void {
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K${table} …`);
}

function endProgress(): void {
  if (process.stdout.isTTY) process.stdout.write('\r\x1b[K');
}
