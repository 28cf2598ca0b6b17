/**
 * What a database of MariaDB or MySQL is compared by: exact row counts of every table, the number of each kind of object,
 * and a checksum of the content of tables of up to 100 000 rows, in whatever order the rows come.
 *
 * The statements are written by statements, since neither has loops outside of routines that both understand.
 */
const count = (key: string, from: string) =>
  `SELECT CONCAT('@stat ', JSON_ARRAY('${key}', COUNT(*))) FROM information_schema.${from};`;

const isTable = "t.table_schema = DATABASE() AND t.table_type IN ('BASE TABLE', 'SYSTEM VERSIONED')";

/** A name as SQL writes it, and as text. */
const quoted = (column: string) => `'\`', REPLACE(${column}, '\`', '\`\`'), '\`'`;

/** Each column as text, whatever it is; `HEX` keeps apart what looks alike. */
const rowText = `(SELECT CONCAT('CONCAT_WS(0x7c, ', GROUP_CONCAT('IFNULL(HEX(CAST(', ${quoted('c.column_name')},
    ' AS BINARY)), ''-'')' ORDER BY c.ordinal_position SEPARATOR ', '), ')')
  FROM information_schema.columns c WHERE c.table_schema = t.table_schema AND c.table_name = t.table_name)`;

/** All of them as one statement; an empty one where there is no table. */
const forEachTable = (select: string) => `
SELECT COALESCE(GROUP_CONCAT(${select} SEPARATOR ' UNION ALL '), 'DO 0') INTO @slipway
  FROM information_schema.tables t WHERE ${isTable};
PREPARE slipway FROM @slipway;
EXECUTE slipway;
DEALLOCATE PREPARE slipway;
`;

const rows = `CONCAT('SELECT CONCAT(''@stat '', JSON_ARRAY(', QUOTE(CONCAT('rows of ', t.table_name)),
  ', COUNT(*))) FROM ', ${quoted('t.table_name')})`;

const contents = `CONCAT('SELECT CONCAT(''@stat '', JSON_ARRAY(', QUOTE(CONCAT('content of ', t.table_name)),
  ', CAST(COALESCE(s, 0) AS CHAR))) FROM (SELECT SUM(x) AS s, COUNT(*) AS n FROM (SELECT CRC32(', ${rowText},
  ') AS x FROM ', ${quoted('t.table_name')}, ' LIMIT 100001) l) z WHERE n <= 100000')`;

/** Ahead of the transaction. */
export const statsSettings = `
SET NAMES utf8mb4;
SET SESSION sql_mode = '', SESSION time_zone = '+00:00', SESSION group_concat_max_len = 67108864;
SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ;
`;

export const statsBody = `
${count('tables', `tables t WHERE ${isTable}`)}
${count('views', 'views WHERE table_schema = DATABASE()')}
${count('columns', 'columns WHERE table_schema = DATABASE()')}
${count('indexes', 'statistics WHERE table_schema = DATABASE() AND seq_in_index = 1')}
${count('constraints', 'table_constraints WHERE table_schema = DATABASE()')}
${count('triggers', 'triggers WHERE trigger_schema = DATABASE()')}
${count('routines', 'routines WHERE routine_schema = DATABASE()')}
${count('events', 'events WHERE event_schema = DATABASE()')}
${count('partitions', 'partitions WHERE table_schema = DATABASE() AND partition_name IS NOT NULL')}
SELECT CONCAT('@warning Tables without transactions may have changed while they were dumped: ',
    GROUP_CONCAT(t.table_name ORDER BY t.table_name SEPARATOR ', '), '.')
  FROM information_schema.tables t JOIN information_schema.engines e ON e.engine = t.engine
  WHERE ${isTable} AND COALESCE(e.transactions, 'NO') <> 'YES' HAVING COUNT(*) > 0;
${forEachTable(rows)}
${forEachTable(contents)}
`;
