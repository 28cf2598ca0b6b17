/** Types alone, with the fetch that goes with them: calls by method and path. */
import createClient from 'openapi-fetch';
import type { components, paths } from './generated/openapi-typescript/schema.ts';

const { SLIPWAY_URL: baseUrl = '', SLIPWAY_TOKEN: token = '' } = process.env;
const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${token}` } });

const { data: me } = await client.GET('/api/v1/auth/me');
const { data: made, response } = await client.POST('/api/v1/servers', {
  params: { header: { 'Idempotency-Key': 'openapi-typescript-1' } },
  body: { name: 'by-paths', host: '127.0.0.1', port: 9, auth: { type: 'generated' } },
});
const { error } = await client.GET('/api/v1/servers/{id}', {
  params: { path: { id: '01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b' } },
});

/** The compiler knows every kind, and asks for one that is left out. */
function told(event: components['schemas']['DeploymentEvent']): string {
  switch (event.kind) {
    case 'status':
    case 'end':
      return event.fault?.message ?? event.status;
    case 'log':
      return event.line;
    case 'progress':
      return `${event.fraction}`;
    case 'reset':
      return event.reason;
  }
}

const code: components['schemas']['FaultCode'] | undefined = error?.code;
process.stdout.write(
  JSON.stringify({
    email: me?.email,
    server: made?.name,
    location: response.headers.get('location'),
    code,
    told: told({ kind: 'log', at: new Date(0).toISOString(), step: 'build', line: 'a line' }),
  }),
);
