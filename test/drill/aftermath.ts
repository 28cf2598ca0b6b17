/** What is on the servers and in the storage when a wave is over, beside what the service says is there. */
import { createHash } from 'node:crypto';
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readCertificates } from '../../src/adapters/proxy/certificates.ts';
import { sql } from '../../src/store/sql.ts';
import { keptImages, leftWrongs, look, of, placeWrongs } from '../faults/aftermath.ts';
import { clustersWrongs } from './cluster-lanes.ts';
import { unfinished } from './history.ts';
import type { Scene } from './scene.ts';

/** Beside what a deployment may leave: what backups, services and environments do. */
const lookMore = `
docker ps --all --filter label=slipway=scratch --format 'scratch {{.Names}}'
docker ps --all --filter label=slipway=service --format 'service {{.Label "slipway.environment"}} {{.Names}} {{.State}}'
docker volume ls --filter label=slipway --format 'volume {{.Name}}'
docker network ls --filter label=slipway=network --format 'network {{.Label "slipway.environment"}}'
docker images --filter label=slipway=image --format '{{.ID}}' | sort -u | while read -r id; do
  docker image inspect --format 'imageof {{index .Config.Labels "slipway.environment"}} {{.Id}}' "$id"
done
if [ -d /var/lib/slipway/backups ]; then ls -A /var/lib/slipway/backups | sed 's/^/dumps /'; fi
`;

/** What was asked of the server by one that was killed may still be on its way, and the minute's look puts things right. */
export async function consistent(
  scene: Scene,
  tell: (line: string) => void,
  withinMs = 150_000,
): Promise<void> {
  const begunAt = Date.now();
  for (;;) {
    const found = await wrongs(scene).catch((error: unknown) => [String(error)]);
    if (found.length === 0) return;
    const atWork = await unfinished(scene.db);
    tell(`not yet: ${found.join('; ')}; at work: ${atWork.join(', ') || 'nobody'}`);
    if (Date.now() - begunAt > withinMs) throw new Error(`after the wave: ${found.join('; ')}`);
    await sleep(1_000);
  }
}

async function wrongs(scene: Scene): Promise<string[]> {
  const { ground } = scene;
  const databases = scene.data
    ? `docker exec slipway-${scene.data.main} psql -U app -Atqc "select 'database ' || datname from pg_database" app`
    : '';
  const seen = await scene.console.sh(`${look}\n${lookMore}\n${databases}`);
  const ids = scene.environments.map(({ id }) => id);
  return [
    ...(await placeWrongs(ground, seen, ids)),
    ...leftWrongs(seen),
    ...foreign(seen, ids),
    ...(await imageWrongs(scene, seen)),
    ...(await serviceWrongs(scene, seen)),
    ...(await dataWrongs(scene, seen)),
    ...(await certificateWrongs(scene)),
    ...(await storageWrongs(scene)),
    ...(await secondWrongs(scene)),
    ...(await clustersWrongs(scene)),
  ];
}

/** Of environments that are gone. */
function foreign(seen: string, ids: readonly string[]): string[] {
  return ['container', 'service', 'network', 'imageof'].flatMap((kind) =>
    of(seen, kind)
      // The network of the proxy is the server's own.
      .filter((each) => each.trim() !== '' && !ids.some((id) => each.startsWith(id)))
      .map((each) => `${kind} ${each} belongs to nobody`),
  );
}

/** Those of the newest releases are kept, and one for each try since that came to nothing. */
async function imageWrongs({ db, environments }: Scene, seen: string): Promise<string[]> {
  const rows = await db.rows<{ id: string; tries: number }>(sql`
    select e.id, count(d.id)::int as tries from environments e
    left join deployments d on d.environment_id = e.id and d.status <> 'succeeded' and d.number >
      (select max(number) from deployments s where s.environment_id = e.id and s.status = 'succeeded')
    group by e.id`);
  return environments.flatMap(({ id }) => {
    const most = keptImages + (rows.find((each) => each.id === id)?.tries ?? 0);
    const found = of(seen, 'imageof').filter((each) => each.startsWith(id)).length;
    return found > most ? [`${found} images of ${id} are kept`] : [];
  });
}

async function serviceWrongs({ db }: Scene, seen: string): Promise<string[]> {
  const rows = await db.rows<{ id: string; status: string }>(sql`
    select id, status from services where removed_at is null`);
  const found = of(seen, 'service').map((each) => each.split(' '));
  return [
    ...rows
      .filter(({ id, status }) => {
        const mine = found.filter(([, name]) => name === `slipway-${id}`);
        return status !== 'running' || mine.length !== 1 || mine[0]?.[2] !== 'running';
      })
      .map(({ id, status }) => `the service ${id} is ${status}, and does not run alone`),
    ...found
      .filter(([, name]) => !rows.some(({ id }) => name === `slipway-${id}`))
      .map(([, name]) => `the service ${name} is left`),
  ];
}

/** Volumes and databases: those of services, and those that were replaced and wait for their end. */
async function dataWrongs({ db }: Scene, seen: string): Promise<string[]> {
  const services = await db.rows<{ id: string }>(sql`select id from services`);
  const replaced = await db.rows<{ name: string }>(sql`select copy_name as name from backup_replaced`);
  const uploads = await db.rows<{ id: string }>(sql`
    select id from backup_restores where status = 'uploading' or cleanup_at is not null`);
  const isKept = (name: string) => replaced.some((each) => name.endsWith(each.name));
  return [
    ...of(seen, 'scratch').map((each) => `${each} is left`),
    ...of(seen, 'volume')
      .filter((each) => !services.some(({ id }) => each === `slipway-${id}`) && !isKept(each))
      .map((each) => `the volume ${each} is left`),
    ...of(seen, 'database')
      .filter((each) => /^(new|old)/.test(each) && !isKept(each))
      .map((each) => `the database ${each} is left`),
    ...of(seen, 'dumps')
      .filter((each) => !uploads.some(({ id }) => id === each))
      .map((each) => `the folder ${each} of a dump is left`),
  ];
}

async function certificateWrongs({ ground, db }: Scene): Promise<string[]> {
  const shown = await readCertificates({ remote: ground.remote, signal: AbortSignal.timeout(30_000) });
  const rows = await db.rows<{ id: string }>(sql`
    select c.id from certificates c join environment_domains d on d.certificate_id = c.id where c.chain is not null`);
  return [
    ...shown.filter(({ agrees }) => !agrees).map(({ id }) => `the certificate ${id} is half installed`),
    ...shown
      .filter(({ id }) => !rows.some((row) => row.id === id))
      .map(({ id }) => `the certificate ${id} is left`),
    ...rows
      .filter(({ id }) => !shown.some((each) => each.id === id))
      .map(({ id }) => `the certificate ${id} is not shown`),
  ];
}

/** Every part of a backup that succeeded lies there with its sum; nothing else does, but what is known to have to go. */
async function storageWrongs({ db, backupFolder }: Scene): Promise<string[]> {
  const parts = await db.rows<{
    name: string;
    bytes: string;
    sum: string;
    status: string;
    debt: boolean;
  }>(sql`
    select p.object_name as name, p.size_bytes as bytes, p.sha256 as sum, b.status,
      b.cleanup_at is not null or b.delete_at is not null as debt
    from backup_parts p join backups b on b.id = p.backup_id`);
  const files = globSync('**/*', { cwd: backupFolder }).filter((each) =>
    statSync(join(backupFolder, each)).isFile(),
  );
  const good = parts.filter(({ status, debt }) => status === 'succeeded' && !debt);
  const known = new Set(parts.filter(({ debt }) => debt).map(({ name }) => name));
  return [
    ...good
      .filter(({ name, bytes, sum }) => {
        if (!files.includes(name)) return true;
        const content = readFileSync(join(backupFolder, name));
        return content.length !== Number(bytes) || createHash('sha256').update(content).digest('hex') !== sum;
      })
      .map(({ name }) => `the object ${name} is missing or damaged`),
    ...files
      .filter((each) => !good.some(({ name }) => name === each) && !known.has(each))
      .map((each) => `the object ${each} is left`),
  ];
}

/** Nothing stands on it: it is as provisioning leaves it. */
async function secondWrongs({ ground, second }: Scene): Promise<string[]> {
  if (!second) return [];
  const { name } = second.server;
  const { stdout } = await ground.lab.console(name, 'sh', '-uc', look);
  const { status } = await ground.call('GET', `/servers/${second.id}`);
  return [
    ...leftWrongs(stdout).map((each) => `${name}: ${each}`),
    ...(status === 'ready' ? [] : [`${name} is ${status}`]),
  ];
}
