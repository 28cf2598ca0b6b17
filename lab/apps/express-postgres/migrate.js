import { pool } from './database.js';

const lock = 734401;

const client = await pool.connect();
try {
  // Two instances that start together would otherwise both try to create the table.
  await client.query('select pg_advisory_lock($1)', [lock]);
  await client.query(`
    create table if not exists notes (
      id bigint generated always as identity primary key,
      text text not null,
      created_at timestamptz not null default now()
    )
  `);
  console.log('The database is up to date.');
} finally {
  // Ending the session gives the lock back.
  client.release(true);
  await pool.end();
}
