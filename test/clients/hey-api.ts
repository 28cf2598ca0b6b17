/** A function for each operation, and streams as iterators of typed events. */
import { client } from './generated/hey-api/client.gen.ts';
import { followEvents, getMe, getServer, registerServer, updateServer } from './generated/hey-api/index.ts';

const { SLIPWAY_URL: baseUrl = '', SLIPWAY_TOKEN: token = '' } = process.env;
// Streams take the token or a ticket in the query; it fills in whatever it is given something for.
client.setConfig({ baseUrl, auth: (asked) => (asked.in === 'query' ? undefined : token) });

const { data: me } = await getMe();
const { data: made, response } = await registerServer({
  headers: { 'Idempotency-Key': 'hey-api-1' },
  body: { name: 'by-functions', host: '127.0.0.1', port: 9, auth: { type: 'generated' } },
});
const { error } = await getServer({ path: { id: '01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b' } });

const stopping = new AbortController();
const { stream } = await followEvents({ query: { after: '0' }, signal: stopping.signal });
const reasons: string[] = [];
for await (const event of stream) {
  if (event.kind !== 'server_updated' || event.serverId !== made?.id) continue;
  reasons.push(event.reason);
  if (reasons.length === 1) await updateServer({ path: { id: event.serverId }, body: { name: 'renamed' } });
  if (event.reason === 'changed') break;
}
stopping.abort();

process.stdout.write(
  JSON.stringify({
    email: me?.email,
    server: made?.name,
    location: response?.headers.get('location'),
    code: error?.code,
    reasons,
  }),
);
