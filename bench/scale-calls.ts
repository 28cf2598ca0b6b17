/** What is asked of a large installation: the lists and details of the API, with ids out of the data set. */
import pg from 'pg';
import { signAccessToken } from '../src/areas/accounts/tokens.ts';
import type { AccountId, SessionId } from '../src/ids.ts';
import { Secret } from '../src/secret.ts';
import { MasterKeys } from '../src/store/master-keys.ts';

/** Someone in a workspace, and one of each that is there to be seen. */
export interface Place {
  readonly token: string;
  readonly environmentId: string;
  readonly deployments: number;
  readonly ids: Readonly<Record<string, string>>;
}

export const scaleKey = Buffer.alloc(32, 7).toString('base64');

/** So many environments out of all workspaces, the busiest first. */
export async function findPlaces(url: string, most: number, now = new Date()): Promise<Place[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, string>>(
      `select e.*,
         (select s.account_id from sessions s join memberships m on m.account_id = s.account_id
          where m.workspace_id = e.workspace_id and m.role = 'owner' limit 1) as account,
         (select s.id from sessions s join memberships m on m.account_id = s.account_id
          where m.workspace_id = e.workspace_id and m.role = 'owner' limit 1) as session,
         (select id from servers where workspace_id = e.workspace_id limit 1) as server,
         (select id from domains where workspace_id = e.workspace_id limit 1) as domain,
         (select id from notification_connectors where workspace_id = e.workspace_id limit 1) as connector,
         (select id from backups where workspace_id = e.workspace_id and environment_id = e.environment limit 1) as backup,
         (select id from deployments where environment_id = e.environment order by number desc limit 1) as deployment,
         (select operation_id from deployments where environment_id = e.environment order by number desc limit 1) as operation,
         (select id from deployments where environment_id = e.environment and number <= 60
          order by number desc limit 1) as deep,
         (select id from operations where workspace_id = e.workspace_id order by id offset 60 limit 1) as deep_operation
       from (
         select workspace_id, id as environment, project_id as project,
           (select max(number) from deployments where environment_id = environments.id) as deployments
         from environments where name = 'production'
         order by deployments desc, md5(id::text) limit $1
       ) e`,
      [most],
    );
    return await Promise.all(rows.map((row) => placeOf(row, now)));
  } finally {
    await client.end();
  }
}

async function placeOf(row: Record<string, string>, now: Date): Promise<Place> {
  const { account, session, environment = '', deployments, ...ids } = row;
  const keys = new MasterKeys(new Secret(Buffer.from(scaleKey, 'base64')));
  const claims = { accountId: account as AccountId, sessionId: session as SessionId };
  const token = await signAccessToken(keys, now, claims);
  return { token, environmentId: environment, deployments: Number(deployments), ids };
}

export interface Call {
  readonly what: string;
  readonly path: (place: Place) => string;
}

const cursorOf = (id: string | undefined) => Buffer.from(id ?? '').toString('base64url');
const inside = (rest: string) => (place: Place) =>
  `/environments/${place.environmentId}${rest.replace('*', place.ids.deployment ?? '')}`;

export const calls: readonly Call[] = [
  { what: 'profile', path: () => '/auth/me' },
  { what: 'sessions', path: () => '/auth/sessions' },
  { what: 'projects', path: () => '/projects' },
  { what: 'project', path: ({ ids }) => `/projects/${ids.project}` },
  { what: 'webhook deliveries', path: ({ ids }) => `/projects/${ids.project}/webhook-deliveries` },
  { what: 'environments', path: () => '/environments' },
  { what: 'environment', path: inside('') },
  { what: 'variables', path: inside('/variables') },
  { what: 'services', path: inside('/services') },
  { what: 'deployments, first page', path: inside('/deployments') },
  {
    what: 'deployments, last page',
    path: (at) => inside(`/deployments?cursor=${cursorOf(at.ids.deep)}`)(at),
  },
  { what: 'deployment', path: inside('/deployments/*') },
  { what: 'lines of a deployment', path: inside('/deployments/*/logs') },
  { what: 'stream of a deployment, to its end', path: inside('/deployments/*/status') },
  { what: 'operations, first page', path: () => '/operations' },
  { what: 'operations, last page', path: ({ ids }) => `/operations?cursor=${cursorOf(ids.deep_operation)}` },
  { what: 'operation', path: ({ ids }) => `/operations/${ids.operation}` },
  { what: 'backups of an environment', path: inside('/backups') },
  { what: 'backups of all', path: () => '/backups' },
  { what: 'backup', path: (at) => inside(`/backups/${at.ids.backup}`)(at) },
  { what: 'domains', path: () => '/domains' },
  { what: 'domain', path: ({ ids }) => `/domains/${ids.domain}` },
  { what: 'servers', path: () => '/servers' },
  { what: 'server', path: ({ ids }) => `/servers/${ids.server}` },
  { what: 'connectors', path: () => '/notification-connectors' },
  {
    what: 'deliveries of a connector',
    path: ({ ids }) => `/notification-connectors/${ids.connector}/deliveries`,
  },
];
