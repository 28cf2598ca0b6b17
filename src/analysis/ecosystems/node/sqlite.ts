/** Folders in which a Node app keeps an SQLite file. */

import { certain, type Evidenced, evidenced } from '../../evidence.ts';
import { join } from '../../repository.ts';
import { sqliteVolumes } from '../sqlite-volumes.ts';
import { folderOf } from './config-value.ts';
import type { PackageContext } from './package-context.ts';

const drivers = ['better-sqlite3', 'sqlite3', 'sqlite', '@libsql/client', 'sql.js'];
const endings = ['.ts', '.js', '.mjs', '.cjs', '.env.example', '.env'];
const mostFiles = 200;

export function sqliteVolumesOf({
  manifest,
  repository,
  directory,
}: PackageContext): readonly Evidenced<string>[] {
  const schema = join(directory.path, 'prisma/schema.prisma');
  const text = repository.text(schema)?.slice(0, 20_000) ?? '';
  const isPrisma = /provider\s*=\s*"sqlite"/.test(text);
  // Prisma counts from the folder of its schema.
  const folder = folderOf(/url\s*=\s*"file:(?:\.\/)?([\w./-]{1,200})\/[\w.-]+"/.exec(text)?.[1]);
  if (isPrisma && folder !== undefined)
    return [evidenced(`prisma/${folder}`, certain, schema, 'SQLite lies there')];
  if (!isPrisma && !drivers.some((name) => manifest.dependencies.has(name))) return [];
  const files = [...repository.filesUnder(directory.path, endings)].slice(0, mostFiles);
  return sqliteVolumes(repository, directory.path, files);
}
