import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import { pool } from './database.js';

const app = express();
app.use(express.json());

app.get('/', (_req, res) => {
  res.type('text').send(`express-postgres ${process.env.APP_VERSION ?? 'dev'}\n`);
});

app.get('/healthz', async (_req, res) => {
  try {
    await pool.query('select 1');
    res.json({ status: 'ok' });
  } catch (error) {
    res.status(503).json({ status: 'no database', reason: error.message || error.code });
  }
});

app.get('/notes', async (_req, res) => {
  const { rows } = await pool.query('select id, text, created_at from notes order by id');
  res.json(rows);
});

app.post('/notes', async (req, res) => {
  const text = req.body?.text;
  if (typeof text !== 'string' || text.trim() === '') {
    return res.status(400).json({ error: 'A note needs a text.' });
  }
  const { rows } = await pool.query('insert into notes (text) values ($1) returning id, text, created_at', [text]);
  res.status(201).json(rows[0]);
});

app.get('/slow', async (req, res) => {
  const ms = Math.min(Math.max(Number(req.query.ms) || 0, 0), 120_000);
  await sleep(ms);
  res.type('text').send(`waited ${ms} ms\n`);
});

const server = app.listen(Number(process.env.PORT ?? 3000), '0.0.0.0', (error) => {
  if (error) throw error;
  console.log(`Listening on port ${server.address().port}`);
});
server.once('close', () => pool.end());

process.on('SIGTERM', () => {
  console.log('SIGTERM: finishing the requests in flight');
  server.close();
  // A connection that stays open after its last answer would hold the exit up for seconds.
  setInterval(() => server.closeIdleConnections(), 100).unref();
});
