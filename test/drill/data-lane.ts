/**
 * Backups, restores, imports and changes of services, in an environment whose databases hold a value that is known at
 * every moment: after a restore it is the backup's or the one before, in all places, whatever happened meanwhile.
 */
import assert from 'node:assert/strict';
import type { Body } from '../faults/ground.ts';
import { type Lane, well } from './lane.ts';
import { type DataPlace, list, wantedServices } from './scene.ts';
import type { DataTask } from './tasks.ts';

interface Values {
  readonly main: string;
  readonly cache: string;
}

/** What each backup holds, as long as the scene lasts. */
const held = new Map<string, Values>();

export async function runData(lane: Lane, task: DataTask): Promise<void> {
  const { data } = lane.scene;
  if (!data) return;
  if (task.kind === 'backup') await backUp(lane, data);
  else if (task.kind === 'restore') await restore(lane, data, task.safetyBackup);
  else if (task.kind === 'import') await importSql(lane, data);
  else if (task.kind === 'services') await changeServices(lane, data);
  else await deploy(lane, data);
}

async function backUp(lane: Lane, data: DataPlace): Promise<Body> {
  const value = lane.fresh();
  const values = { main: value, cache: value };
  await set(lane, data, values);
  const made = await lane.ground.call('POST', `/environments/${data.environmentId}/backups/trigger`, {});
  held.set(String(made.id), values);
  await lane.ended(made.operationId);
  assert.deepEqual(await get(lane, data), values, 'a backup changes nothing');
  return made;
}

async function restore(lane: Lane, data: DataPlace, safetyBackup: boolean): Promise<void> {
  const { ground } = lane;
  const path = `/environments/${data.environmentId}/backups`;
  const known = list((await ground.call('GET', `${path}?limit=50`)).items).find(
    ({ id, status }) => status === 'succeeded' && held.has(String(id)),
  );
  const { id } = known ?? (await backUp(lane, data));
  const backup = await ground.call('GET', `${path}/${id}`);
  if (backup.status !== 'succeeded') return;
  const before = { main: lane.fresh(), cache: lane.fresh() };
  await set(lane, data, before);
  const fits = await hasAllServices(lane, data, backup);
  const started = await ground.call('POST', `${path}/${id}/restore`, { safetyBackup });
  const { status } = await lane.ended(started.id, fits ? well : notFitting);
  const wanted = status === 'succeeded' ? held.get(String(id)) : before;
  assert.deepEqual(await get(lane, data), wanted, `the data after a restore that ${status}`);
}

const notFitting = { state: 'failed', code: /^backup_incompatible$/ } as const;

/** The lane itself may have removed one since. */
async function hasAllServices({ ground }: Lane, data: DataPlace, { parts }: Body): Promise<boolean> {
  const now = list((await ground.call('GET', `/environments/${data.environmentId}/services`)).items);
  const sources = list(list(parts).map(({ source }) => source));
  return sources.every(({ serviceId }) => now.some(({ id }) => id === serviceId));
}

async function importSql(lane: Lane, data: DataPlace): Promise<void> {
  const before = { main: lane.fresh(), cache: lane.fresh() };
  await set(lane, data, before);
  const value = lane.fresh();
  const text = `drop table if exists kept; create table kept as select '${value}' as value from generate_series(1, 2000);\n`;
  const path = `/environments/${data.environmentId}/backups/import?serviceId=${data.main}`;
  const { id } = await lane.ground.upload(path, 'dump.sql', text);
  const { status } = await lane.ended(id);
  const wanted = status === 'succeeded' ? { ...before, main: value } : before;
  assert.deepEqual(await get(lane, data), wanted, `the data after an import that ${status}`);
}

/** One more service, or no more: its data goes with it. */
async function changeServices(lane: Lane, data: DataPlace): Promise<void> {
  const path = `/environments/${data.environmentId}/services`;
  const now = list((await lane.ground.call('GET', path)).items);
  const hasExtra = now.some(({ name }) => name === 'extra');
  const extra = { kind: 'redis', name: 'extra', memoryMb: 64 };
  const services = hasExtra ? wantedServices : [...wantedServices, extra];
  const { operationId } = await lane.ground.call('POST', path, {
    services,
    deleteData: true,
    ...(hasExtra && { remove: ['extra'] }),
  });
  await lane.ended(operationId, well);
}

async function deploy(lane: Lane, data: DataPlace): Promise<void> {
  const { ground } = lane;
  const name = lane.fresh();
  const commit = await ground.push({ name, build: `echo ${name}` }, 'data');
  await lane.deployed(data.environmentId, await ground.deploy(commit, data.environmentId));
}

/** At the first time the table is made; many rows, so that half of them would show. */
async function set({ scene }: Lane, { main, cache }: DataPlace, values: Values): Promise<void> {
  const statements = `drop table if exists kept; create table kept as select '${values.main}' as value from generate_series(1, 2000)`;
  await scene.console.steadily(`docker exec slipway-${main} psql -v ON_ERROR_STOP=1 -U app -Atqc "begin; ${statements}; commit" app
docker exec slipway-${cache} sh -c 'REDISCLI_AUTH=$REDIS_PASSWORD redis-cli set kept ${values.cache}' | grep -q OK`);
}

async function get({ scene }: Lane, { main, cache }: DataPlace): Promise<Values> {
  const said =
    await scene.console.steadily(`docker exec slipway-${main} psql -U app -Atqc "select string_agg(distinct value, '+') from kept" app
docker exec slipway-${cache} sh -c 'REDISCLI_AUTH=$REDIS_PASSWORD redis-cli get kept'`);
  const [first = '', second = ''] = said.split('\n');
  return { main: first, cache: second };
}
