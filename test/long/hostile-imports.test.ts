import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { faultOf } from '../support/faults.ts';
import { openLab } from '../support/lab.ts';
import { engineScene, uploads } from '../support/sql-engine-scene.ts';

const lab = await openLab();
const mebibyte = 1024 * 1024;

/** Of everything that a fault says. */
const told = async (work: Promise<unknown>) => {
  const { code, message, evidence } = await faultOf(() => work);
  return { code, text: `${message}\n${evidence}` };
};

const environ = '/proc/self/environ';

test('whoever imports a file into MariaDB learns no password from it, and runs no command of the client', async (t) => {
  const scene = await engineScene(t, await lab.shared('docker'), 'mariadb', 256);
  const { engine, site, source, server } = scene;
  const upload = await uploads(scene);
  const { password, adminPassword } = source.credentials;
  const staging = await upload(
    "CREATE TABLE t (x TEXT);\nDELIMITER //\nCREATE PROCEDURE p() BEGIN SELECT 1; END//\nDELIMITER ;\nINSERT INTO t VALUES ('a\\r\\nb');\n",
  );
  await engine.swap(site, source, { staging, previous: 'previous_1' });
  assert.equal((await scene.sql('SELECT HEX(x) FROM t')).trim(), '610D0A62', 'root has its password there');
  const asApp = `docker exec -i ${source.container} sh -c 'MYSQL_PWD=$MARIADB_PASSWORD exec mariadb -uapp --protocol=tcp -h127.0.0.1 -NB app'`;
  assert.equal(
    (await server.ssh(asApp, 'SELECT COUNT(*) FROM t')).trim(),
    '1',
    'and the application its own',
  );
  await engine.discard(site, source, 'previous_1');

  for (const [what, file] of Object.entries({
    shell: '\\! env >&2; echo ran >&2\nSELECT nonsense;\n',
    'a file of the client': `CREATE TABLE t (x TEXT);\nLOAD DATA LOCAL INFILE '${environ}' INTO TABLE t;\n`,
  })) {
    const { code, text } = await told(upload(file));
    assert.equal(code, 'import_failed', `${what}: ${text}`);
    const isTold = text.includes(password.reveal()) || text.includes(adminPassword.reveal());
    assert.ok(!isTold && !/^ran$/m.test(text), `${what}: ${text}`);
  }

  const more = "INSERT INTO t SELECT REPEAT('x', 1000) FROM seq_1_to_50000;\n";
  const bomb = `CREATE TABLE t (x TEXT);\n${more.repeat(100)}`;
  const grown = await faultOf(() => upload(bomb, 300 * mebibyte));
  assert.match(
    grown.message,
    /became \d\.\d GB of data while it was loaded, and 0\.\d GB are allowed/,
    grown.evidence,
  );
  assert.equal((await scene.leftovers()).trim(), '');
});

/** What the server was started with, in the text of an error. */
const raised = `create table seen (x text);
copy seen from program 'env';
do $$ begin raise exception '%', (select string_agg(x, ' ') from seen); end $$;
`;

test('whoever imports a file into PostgreSQL learns no password from it, runs no shell by psql, and fills no disk', async (t) => {
  const scene = await engineScene(t, await lab.shared('docker'), 'postgres', 128);
  const upload = await uploads(scene);
  const password = scene.source.credentials.password.reveal();
  const shell = await told(
    upload('\\restrict abc\nselect 1;\n\\unrestrict abc\n\\! env >&2; echo ran >&2\nselect nonsense;\n'),
  );
  assert.equal(shell.code, 'import_failed', shell.text);
  assert.match(shell.text, /psql:<stdin>:4: error: backslash commands are restricted/);
  assert.doesNotMatch(shell.text, /^ran$/m);
  assert.ok(!shell.text.includes(password), shell.text);

  const environment = await told(upload(raised));
  assert.match(environment.text, /POSTGRES_PASSWORD=/, 'there is one, which nothing else has');
  assert.ok(!environment.text.includes(password), environment.text);

  const dumped = `--\n\\restrict abc123\n\\connect app\ncreate table t (x text);\ncopy t from stdin;\n\\\\restrict abc\n\\.\n\\unrestrict abc123\n`;
  const staging = await upload(dumped);
  assert.equal((await scene.sql('select x from t', staging)).trim(), '\\restrict abc');
  await scene.engine.discard(scene.site, scene.source, staging);

  const bomb = gzipSync(
    "create table t as select repeat('x', 1000) || n as x from generate_series(1, 100000000) n;",
  );
  const grown = await faultOf(() => upload(bomb, 200 * mebibyte));
  assert.equal(grown.code, 'import_failed', `${grown.message} ${grown.evidence}`);
  assert.match(grown.message, /became \d\.\d GB of data while it was loaded, and 0\.\d GB are allowed/);
  assert.match(grown.hint ?? '', /SLIPWAY_LIMIT_IMPORT_DATA_MB/);
  assert.equal((await scene.leftovers()).trim(), '');
});
