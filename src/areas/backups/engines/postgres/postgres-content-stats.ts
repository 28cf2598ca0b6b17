/**
 * What a database of PostgreSQL is compared by. Row counts are exact and taken of every table. Tables of up to 100 000
 * rows also get a checksum of their content, in whatever order the rows come: more would make the dump wait. Whether a
 * table gets one depends on its rows alone, so that a copy gives the same stats. The last values of sequences belong
 * to no snapshot: they move on while the dump is made, and are left out.
 */

/** Times, numbers and bytes have to be written the same way wherever it runs. */
const sameFormats = `
set datestyle = 'ISO, YMD'; set timezone = 'UTC'; set intervalstyle = 'postgres'; set bytea_output = 'hex';
set extra_float_digits = 1; set xmloption = 'content'; set search_path = pg_catalog; set row_security = off;
set max_parallel_workers_per_gather = 0; set lock_timeout = 0; set statement_timeout = 0;
`;

/** What belongs to an extension comes with it and is not dumped. */
const notOfExtension = (catalog: string, oid: string) =>
  `not exists (select from pg_depend d where d.classid = '${catalog}'::regclass and d.objid = ${oid} and d.deptype = 'e')`;

const inOwnSchema = (column: string) =>
  `exists (select from pg_namespace n where n.oid = ${column} and n.nspname !~ '^pg_' and n.nspname <> 'information_schema')`;

const ownClass = `${inOwnSchema('c.relnamespace')} and ${notOfExtension('pg_class', 'c.oid')}`;

const count = (key: string, from: string) =>
  `select '@stat ' || json_build_array('${key}', count(*))::text from ${from};`;

const kindsOfRelations: readonly (readonly [string, string])[] = [
  ['tables', "'r', 'p'"],
  ['views', "'v'"],
  ['materialised views', "'m'"],
  ['sequences', "'S'"],
  ['foreign tables', "'f'"],
];

const counts = [
  ...kindsOfRelations.map(([key, kinds]) =>
    count(key, `pg_class c where c.relkind in (${kinds}) and ${ownClass}`),
  ),
  count('indexes', `pg_index i join pg_class c on c.oid = i.indrelid where ${ownClass}`),
  count(
    'columns',
    `pg_attribute a join pg_class c on c.oid = a.attrelid
    where a.attnum > 0 and not a.attisdropped and c.relkind in ('r', 'p', 'v', 'm', 'f') and ${ownClass}`,
  ),
  count(
    'constraints',
    `pg_constraint k where ${inOwnSchema('k.connamespace')} and ${notOfExtension('pg_constraint', 'k.oid')}`,
  ),
  count(
    'triggers',
    `pg_trigger t join pg_class c on c.oid = t.tgrelid where not t.tgisinternal and ${ownClass}`,
  ),
  count(
    'functions',
    `pg_proc p where ${inOwnSchema('p.pronamespace')} and ${notOfExtension('pg_proc', 'p.oid')}`,
  ),
  count(
    'types',
    `pg_type t where t.typtype in ('e', 'd', 'c', 'r') and t.typelem = 0 and ${inOwnSchema('t.typnamespace')}
    and ${notOfExtension('pg_type', 't.oid')}`,
  ),
  count(
    'enum values',
    `pg_enum e join pg_type t on t.oid = e.enumtypid where ${notOfExtension('pg_type', 't.oid')}`,
  ),
  count('policies', 'pg_policy'),
  count('schemas', "pg_namespace n where n.nspname !~ '^pg_' and n.nspname <> 'information_schema'"),
  count('extensions', 'pg_extension'),
  count('large objects', 'pg_largeobject_metadata'),
  `select '@stat ' || json_build_array('bytes of large objects', coalesce(sum(length(data)), 0))::text from pg_largeobject;`,
  `select '@stat ' || json_build_array('content of large objects',
    coalesce(sum(hashtextextended(loid::text || ' ' || pageno::text || ' ' || encode(data, 'hex'), 0)), 0)::text)::text
    from pg_largeobject having count(*) <= 10000;`,
];

/** Each row of the answer is a statement, which psql runs in turn. */
const tables = String.raw`
select format($f$select '@stat ' || json_build_array(%L, count(*))::text from only %I.%I$f$,
    'rows of ' || n.nspname || '.' || c.relname, n.nspname, c.relname),
  format($f$select '@stat ' || json_build_array(%L, coalesce(sum(hashtextextended(x, 0)), 0)::text)::text
      from (select t::text as x from only %I.%I t limit 100001) s having count(*) <= 100000$f$,
    'content of ' || n.nspname || '.' || c.relname, n.nspname, c.relname)
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind = 'r' and ${ownClass}
order by n.nspname, c.relname
\gexec
`;

const body = `${sameFormats}\n${counts.join('\n')}\n${tables}`;

/** For psql with the variable `snapshot`: in the snapshot that is dumped. */
export const statsInSnapshot = `begin isolation level repeatable read, read only;
set transaction snapshot :'snapshot';
${body}
commit;
`;

export const statsNow = `begin isolation level repeatable read, read only;
${body}
commit;
`;
