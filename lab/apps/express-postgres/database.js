import pg from 'pg';

if (!process.env.DATABASE_URL) throw new Error('DATABASE_URL is not set.');

export const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  connectionTimeoutMillis: 3000,
  query_timeout: 5000,
});

// Without a listener, an idle connection that the database closes would end the process.
pool.on('error', (error) => console.error('Lost a database connection:', error.message));
