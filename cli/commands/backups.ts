/** Backups of an environment. */
import { createWriteStream, existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CliError, type Run } from '../command.ts';
import { attendOperation, attendOperationId } from '../operation.ts';

export const list: Run = async (call) => {
  const { terminal, client } = call;
  const { id } = await call.environment();
  const { items } = await client.listBackups({ id, limit: call.number('limit') ?? 20 });
  terminal.show(items, () =>
    terminal.table(
      items.map((each) => [
        each.id,
        terminal.status(each.status),
        each.trigger,
        each.createdAt.slice(0, 16).replace('T', ' '),
        each.sizeBytes === null ? '' : `${(each.sizeBytes / 1_000_000).toFixed(1)} MB`,
        each.verifiedAt ? 'yes' : '',
      ]),
      ['ID', 'STATUS', 'BY', 'WHEN (UTC)', 'SIZE', 'PROVEN'],
      'There is no backup yet. Make one with `slipway backups make`.',
    ),
  );
  return undefined;
};

export const make: Run = async (call) => {
  const { id } = await call.environment();
  const backup = await call.client.triggerBackup({ id });
  if (backup.operationId === null) throw new CliError('The backup has no work of its own to follow.');
  return attendOperationId(call, backup.operationId, `Backup ${backup.id} is made, restored and checked.`);
};

export const restore: Run = async (call) => {
  const bid = call.arg(0, 'The id of the backup');
  const { id, name } = await call.environment();
  // Before anyone is asked: that there is one, and of when.
  const { createdAt } = await call.client.getBackup({ id, bid });
  const when = createdAt.slice(0, 16).replace('T', ' ');
  await call.confirmed(`The data of ${name} becomes that of the backup of ${when} UTC. Go on?`);
  const operation = await call.client.restoreBackup({ id, bid });
  return attendOperation(call, operation, `The data of ${name} is that of the backup.`);
};

export const download: Run = async (call) => {
  const bid = call.arg(0, 'The id of the backup');
  const name = call.arg(1, 'The file');
  const file = resolve(call.folder, name);
  if (existsSync(file)) await call.confirmed(`${name} is there. Write over it?`);
  const answer = await call.client.downloadBackup({ id: (await call.environment()).id, bid });
  if (!answer.body) throw new CliError('The backup is empty.');
  await pipeline(Readable.fromWeb(Object(answer.body)), createWriteStream(file, { mode: 0o600 }));
  call.terminal.show({ file }, () => [`Wrote ${name}.`]);
  return undefined;
};
