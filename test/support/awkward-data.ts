/**
 * Data that dumps get wrong: names that need quotes, text beyond ASCII, objects that depend on each other in circles,
 * values that only their own database writes the same way twice. As statements for each database's own client.
 */

/** `rows` in the one table that has many. */
export function awkwardPostgres(rows: number): string {
  return String.raw`
create extension if not exists pgcrypto;
create schema "Sales ""2024""";
create type mood as enum ('sad', 'ok', 'very "happy"', 'трудно', '🙂');
create type address as (street text, "no." int);
create domain positive as int check (value > 0);
create role reader;
create table people (id bigserial primary key, name text not null, feeling mood, tags text[], about jsonb, home address,
  score positive, seen timestamptz, amount numeric(40, 20), ratio double precision, raw bytea, span int4range,
  lower_name text generated always as (lower(name)) stored);
insert into people (name, feeling, tags, about, home, score, seen, amount, ratio, raw, span) values
  ('O''Brien; drop table people; --', 'very "happy"', array['a,b', 'c"d', null, '{}'], '{"k": [1, 2.50, null, "\u00e9"], "e": {}}',
   row('Main "St"', 3), 7, '2024-03-31 02:30:00+02', 12345678901234567890.12345678901234567890, 'NaN', '\x00ff5c270a', '[1,5)'),
  (E'tab\tnewline\nbackslash\\ \\. 末尾 👩‍👩‍👧', 'трудно', '{}', 'null', null, 1, '-infinity', 0.1, '-Infinity', '', 'empty'),
  ('', '🙂', null, null, null, null, 'infinity', -1e-20, 0.1, null, null);
create table "Sales ""2024"""."order ""x"" 🙂" ("a ""b""" int primary key, "select" text default $$it's$$);
insert into "Sales ""2024"""."order ""x"" 🙂" values (1, default), (2, E'\\N');
create table hen (id int primary key, egg int not null);
create table egg (id int primary key, hen int not null references hen deferrable initially deferred);
alter table hen add foreign key (egg) references egg deferrable initially deferred;
begin; insert into hen values (1, 10), (2, 20); insert into egg values (10, 1), (20, 2); commit;
create table log (id serial primary key, what text, at timestamptz default now());
create function noted() returns trigger language plpgsql as $f$ begin insert into log (what) values (tg_op || ' $$ ' || new.name); return new; end $f$;
create trigger "on people" after insert or update on people for each row execute function noted();
update people set score = 9 where id = 1;
create view grown as select p.*, e.digest from people p, lateral (select encode(digest(p.name, 'sha256'), 'hex') as digest) e;
create materialized view moods as select feeling, count(*) from people group by 1;
create index on people using gin (about); create unique index on people (lower_name, id) where score > 0;
create table measured (at date not null, value int) partition by range (at);
create table measured_2023 partition of measured for values from ('2023-01-01') to ('2024-01-01');
create table measured_rest partition of measured default;
insert into measured select date '2023-06-01' + g, g from generate_series(1, 500) g;
create table empty_one (id int generated always as identity);
create sequence odd start 5 increment 7 maxvalue 1000 cycle; select nextval('odd'), nextval('odd');
create table many (id bigint primary key, label text, value double precision);
insert into many select g, md5(g::text), g / 7.0 from generate_series(1, ${rows}) g;
select lo_from_bytea(0, convert_to(repeat('large 🙂 object ', 40000), 'utf8')), lo_from_bytea(0, '\x00'), lo_from_bytea(0, '');
grant select on people to reader; alter table empty_one enable row level security;
create policy only_reader on empty_one for select to reader using (true);
comment on table people is 'Müller''s "people"';
alter database app set search_path = public, "Sales ""2024""";
`;
}

/** Of everything in it, in any order; sequences and objects too. One line each. */
export const postgresSums = String.raw`
set search_path = pg_catalog; set timezone = 'UTC'; set extra_float_digits = 1;
select format('select %L, count(*), md5(coalesce(string_agg(md5(t::text), '''' order by md5(t::text)), '''')) from only %I.%I t',
  n.nspname || '.' || c.relname, n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'm') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema' order by 1
\gexec
select 'sequence', schemaname, sequencename, last_value, increment_by, cycle from pg_sequences order by 2, 3;
select 'lo', loid, md5(string_agg(data, '' order by pageno)) from pg_largeobject group by loid order by loid;
select 'lo', count(*) from pg_largeobject_metadata;
select 'view', schemaname, viewname, md5(definition) from pg_views where schemaname not in ('pg_catalog', 'information_schema') order by 2, 3;
select 'function', proname, md5(prosrc) from pg_proc where pronamespace = 'public'::regnamespace order by 2, 3;
select 'trigger', tgname, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal order by 2;
select 'constraint', conname, pg_get_constraintdef(oid) from pg_constraint where connamespace = 'public'::regnamespace order by 2, 3;
select 'index', indexdef from pg_indexes where schemaname not in ('pg_catalog') order by 2;
select 'enum', enumlabel, enumsortorder from pg_enum order by enumtypid::regtype::text, 3;
select 'acl', relname, relacl::text, pg_get_userbyid(relowner) from pg_class where relnamespace = 'public'::regnamespace order by 2;
select 'policy', polname from pg_policy; select 'comment', obj_description(to_regclass('public.people'), 'pg_class');
select 'setting', setconfig from pg_db_role_setting where setdatabase = (select oid from pg_database where datname = current_database());
`;

export function awkwardMariadb(rows: number): string {
  return String.raw`
SET NAMES utf8mb4; SET sql_mode = ''; SET SESSION max_recursive_iterations = 20000000; SET time_zone = '+00:00';
CREATE TABLE people (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, name VARCHAR(200) NOT NULL, feeling ENUM('sad', 'ok', 'very "happy"', 'трудно'),
  tags SET('a', 'b', 'c "d'), about JSON, born DATE, seen TIMESTAMP(6) NULL, at DATETIME(3), raw LONGBLOB, bits BIT(13), amount DECIMAL(40, 20),
  ratio DOUBLE, lower_name VARCHAR(200) GENERATED ALWAYS AS (LOWER(name)) STORED, twice INT GENERATED ALWAYS AS (LENGTH(name) * 2) VIRTUAL,
  place POINT, FULLTEXT (name)) CHARACTER SET utf8mb4;
INSERT INTO people (name, feeling, tags, about, born, seen, at, raw, bits, amount, ratio, place) VALUES
  ('O''Brien; DROP TABLE people; -- ', 'very "happy"', 'a', '{"k": [1, 2.50, null, "é"]}', '0000-00-00', '2024-03-31 01:30:00.123456', '0000-00-00 00:00:00',
   0x00ff5c270a1a, b'1010101010101', 12345678901234567890.12345678901234567890, 0.1, POINT(1.5, -2)),
  ('tab\tnewline\nbackslash\\ 末尾 👩‍👩‍👧 \0 nul', 'трудно', '', 'null', '2024-02-30', NULL, '9999-12-31 23:59:59.999', '', b'0', -0.1, -1e300, NULL),
  ('', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
CREATE TABLE ${'`order "x" ``ж末`'} (${'`a b`'} INT PRIMARY KEY, ${'`select`'} TEXT COLLATE utf8mb4_bin);
INSERT INTO ${'`order "x" ``ж末`'} VALUES (1, 'it''s'), (2, '\\N');
CREATE TABLE hen (id INT PRIMARY KEY, egg INT); CREATE TABLE egg (id INT PRIMARY KEY, hen INT, FOREIGN KEY (hen) REFERENCES hen (id) ON DELETE CASCADE);
ALTER TABLE hen ADD FOREIGN KEY (egg) REFERENCES egg (id);
INSERT INTO hen VALUES (1, NULL), (2, NULL); INSERT INTO egg VALUES (10, 1), (20, 2); UPDATE hen SET egg = id * 10;
CREATE TABLE log (id INT AUTO_INCREMENT PRIMARY KEY, what TEXT);
DELIMITER //
CREATE TRIGGER noted AFTER UPDATE ON people FOR EACH ROW BEGIN INSERT INTO log (what) VALUES (CONCAT('was; ', OLD.name)); END//
CREATE FUNCTION doubled(n INT) RETURNS INT DETERMINISTIC BEGIN RETURN n * 2; END//
CREATE PROCEDURE tidy() BEGIN DELETE FROM log WHERE id < 0; END//
DELIMITER ;
UPDATE people SET bits = b'1' WHERE id = 1;
CREATE VIEW grown AS SELECT id, name, doubled(id) AS d FROM people; CREATE VIEW alpha AS SELECT * FROM grown;
CREATE EVENT nightly ON SCHEDULE EVERY 1 DAY DO DELETE FROM log WHERE id < 0;
CREATE TABLE measured (at DATE NOT NULL, value INT) PARTITION BY RANGE (YEAR(at)) (PARTITION p23 VALUES LESS THAN (2024), PARTITION rest VALUES LESS THAN MAXVALUE);
INSERT INTO measured SELECT DATE '2023-06-01' + INTERVAL seq DAY, seq FROM seq_1_to_500;
CREATE TABLE empty_one (id INT AUTO_INCREMENT PRIMARY KEY) AUTO_INCREMENT = 77;
CREATE SEQUENCE odd START WITH 5 INCREMENT BY 7; SELECT NEXTVAL(odd);
CREATE TABLE many (id BIGINT PRIMARY KEY, label CHAR(32), value DOUBLE);
INSERT INTO many SELECT seq, MD5(seq), seq / 7 FROM seq_1_to_${rows};
`;
}

/** As a list of statements, of which the output is compared. */
export const mariadbSums = `
SET NAMES utf8mb4; SET time_zone = '+00:00'; SET group_concat_max_len = 10000000;
SELECT GROUP_CONCAT(CONCAT('\`', REPLACE(table_name, '\`', '\`\`'), '\`') ORDER BY table_name) INTO @all FROM information_schema.tables
  WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE';
EXECUTE IMMEDIATE CONCAT('CHECKSUM TABLE ', @all);
SELECT * FROM people ORDER BY id; SELECT * FROM hen JOIN egg ON egg.hen = hen.id ORDER BY 1; SELECT * FROM alpha ORDER BY 1;
SELECT 'sequence', next_not_cached_value FROM odd;
SELECT table_name, auto_increment FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name IN ('empty_one', 'people', 'log') ORDER BY 1;
SELECT trigger_name, action_statement, definer FROM information_schema.triggers WHERE trigger_schema = DATABASE();
SELECT routine_name, routine_definition, definer FROM information_schema.routines WHERE routine_schema = DATABASE() ORDER BY 1;
SELECT event_name, event_definition, status FROM information_schema.events WHERE event_schema = DATABASE();
SELECT table_name, view_definition FROM information_schema.views WHERE table_schema = DATABASE() ORDER BY 1;
SELECT table_name, column_name, column_type, is_nullable, collation_name, generation_expression FROM information_schema.columns WHERE table_schema = DATABASE() ORDER BY 1, 2;
SELECT constraint_name, table_name, referenced_table_name FROM information_schema.referential_constraints WHERE constraint_schema = DATABASE() ORDER BY 1, 2;
SELECT user, host FROM mysql.user ORDER BY 1, 2; SHOW GRANTS FOR app@'%';
`;
