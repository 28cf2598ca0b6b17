/** Where a text lies in what a service keeps: every row of every table, every file of its folder, every line of its log. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sql } from '../../src/store/sql.ts';
import type { TestApp } from './app.ts';

/** Also where it was written as hexadecimal digits or as base64. Names of tables, files, and `the log`. */
export async function placesThatHold({ app, logLines }: TestApp, text: string): Promise<string[]> {
  const bytes = Buffer.from(text);
  // The last characters of base64 depend on what follows.
  const forms = [text, bytes.toString('hex'), bytes.toString('base64').slice(0, -4)];
  const tables = await app.store.db.rows<{ schema: string; name: string }>(sql`
    select table_schema as schema, table_name as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`);
  const places: string[] = [];
  for (const { schema, name } of tables) {
    const [row] = await app.store.db.raw(
      `select count(*)::int as count from "${schema}"."${name}" t
       where exists (select 1 from unnest($1::text[]) form where position(form in t::text) > 0)`,
      [forms],
    );
    if (Number(row?.count) > 0) places.push(`${schema}.${name}`);
  }
  for (const path of filesIn(dirname(app.store.folder.outboxDir))) {
    const content = readFileSync(path);
    if (forms.some((form) => content.includes(form))) places.push(path);
  }
  const log = JSON.stringify(logLines);
  if (forms.some((form) => log.includes(form))) places.push('the log');
  return places;
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}

/** For `sh -c` as root on a server, with the text as `$1`: prints the files and the journals that hold it. */
export const serverSearch = `grep --recursive --files-with-matches --fixed-strings --text --no-messages \\
  --exclude-dir=proc -e "$1" /etc /var/log /var/lib/slipway /root /home /tmp /run /var/tmp
if journalctl --no-pager --quiet --output=export | grep --quiet --fixed-strings --text -e "$1"; then echo journal; fi
true`;
