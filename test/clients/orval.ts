/** A function for each operation, whose answers are told apart by their status. */
import { getMe, getServer, registerServer } from './generated/orval/slipway.ts';

const me = await getMe();
const made = await registerServer(
  { name: 'by-statuses', host: '127.0.0.1', port: 9, auth: { type: 'generated' } },
  { headers: { 'Idempotency-Key': 'orval-1' } },
);
const lost = await getServer('01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b');

process.stdout.write(
  JSON.stringify({
    email: me.status === 200 ? me.data.email : null,
    server: made.status === 201 ? made.data.name : null,
    location: made.headers.get('location'),
    code: lost.status === 404 ? lost.data.code : null,
  }),
);
