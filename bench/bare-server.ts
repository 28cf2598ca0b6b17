/** The yardstick: Fastify with the same query, the same driver, the same answer, and nothing else. */
import Fastify from 'fastify';
import pg from 'pg';
import * as schemas from '../src/areas/accounts/schemas.ts';

const [socketFolder = '', password = '', accountId = '', port = ''] = process.argv.slice(2);
const pool = new pg.Pool({ host: socketFolder, user: 'slipway', password, database: 'postgres', max: 10 });

const user = `
  select a.id, a.email, a.name, a.email_verified_at as "emailVerifiedAt", a.created_at as "createdAt",
    (select coalesce(json_agg(json_build_object('id', w.id, 'name', w.name, 'role', m.role) order by m.created_at), '[]')
     from memberships m join workspaces w on w.id = m.workspace_id where m.account_id = a.id) as workspaces
  from accounts a where a.id = $1`;
const sessions = `
  select id, user_agent as "userAgent", ip, created_at as "createdAt", last_used_at as "lastUsedAt",
    expires_at as "expiresAt"
  from sessions
  where account_id = $1 and ended_at is null and expires_at > $2 and ($3::uuid is null or id < $3::uuid)
  order by id desc limit $4`;

const app = Fastify();
app.get('/me', { schema: { response: { 200: schemas.UserAnswer } } }, async () => {
  const { rows } = await pool.query({ name: 'user', text: user, values: [accountId] });
  return rows[0];
});
app.get('/sessions', { schema: { response: { 200: schemas.SessionsAnswer } } }, async () => {
  const values = [accountId, new Date(), null, 51];
  const { rows } = await pool.query({ name: 'sessions', text: sessions, values });
  return { items: rows.slice(0, 50).map((row) => ({ ...row, current: false })), nextCursor: null };
});
await app.listen({ host: '127.0.0.1', port: Number(port) });
