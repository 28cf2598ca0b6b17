/** Tools about what there is: seen, found, read; its variables and its backups. */
import Type from 'typebox';
import { type Caller, requireConfirm } from './caller.ts';
import { environmentField } from './deployment-tools.ts';
import { type Tool, tool } from './tool.ts';

type Item = Readonly<Record<string, unknown>>;

const closed = { additionalProperties: false } as const;
const confirmField = Type.String({
  maxLength: 300,
  description: 'The name of the thing, given only after the person has agreed.',
});

/** What is read by its id alone, and how; the others belong to an environment. */
const readers = {
  project: 'getProject',
  environment: 'getEnvironment',
  server: 'getServer',
  domain: 'getDomain',
  operation: 'getOperation',
  connector: 'getNotificationConnector',
} as const;
const listsOfEnvironments = {
  deployments: 'listDeployments',
  variables: 'listVariables',
  services: 'listServices',
  containers: 'listContainers',
  domains: 'listEnvironmentDomains',
  backups: 'listBackups',
} as const;
const kinds = [...Object.keys(readers), ...Object.keys(listsOfEnvironments)];

export const workspaceTools: readonly Tool[] = [
  tool({
    name: 'overview',
    title: 'Overview',
    description: 'Projects with their environments and what is wrong with them, and the servers. Start here.',
    isRead: true,
    rest: 'Use `find` with a name.',
    input: Type.Object({}, closed),
    run: async (caller) => {
      const [projects, environments, servers] = [
        await caller.list('listProjects'),
        await caller.list('listEnvironments'),
        await allowed(caller.list('listServers')),
      ];
      return {
        projects: projects.map(({ id, name, status }) => ({
          id,
          name,
          status,
          environments: environments.filter((each) => each.projectId === id).map(environmentLine),
        })),
        servers:
          servers?.map(({ id, name, host, status }) => ({ id, name, host, status })) ?? 'not yours to see',
      };
    },
  }),
  tool({
    name: 'find',
    title: 'Find',
    description:
      'Projects, environments, servers, domains and connectors by a part of their name, with their ids.',
    isRead: true,
    rest: 'Give more of the name.',
    input: Type.Object({ text: Type.String({ minLength: 1, maxLength: 200 }) }, closed),
    run: async (caller, { text }) => {
      const wanted = text.toLowerCase();
      const found: Item[] = [];
      for (const [kind, operation] of searched) {
        for (const each of (await allowed(caller.list(operation))) ?? []) {
          const name = String(each.name ?? each.hostname ?? '');
          const isFound = [name, each.slug, each.host, each.url].some((part) =>
            String(part ?? '')
              .toLowerCase()
              .includes(wanted),
          );
          if (isFound) found.push({ kind, id: each.id, name, status: each.status });
        }
      }
      return { found };
    },
  }),
  tool({
    name: 'read',
    title: 'Read',
    description:
      'One thing by its id (project, environment, server, domain, operation, connector), or a list of an environment (deployments, variables, services, containers, domains, backups). Values of secret variables are never shown.',
    isRead: true,
    input: Type.Object(
      {
        kind: Type.Enum(kinds),
        id: Type.String({
          minLength: 1,
          maxLength: 300,
          description: 'Of the thing; for a list, of the environment.',
        }),
      },
      closed,
    ),
    run: async (caller, { kind, id }) => {
      const reader = Object.entries(readers).find(([name]) => name === kind)?.[1];
      if (kind === 'environment') return caller.environment(id);
      if (reader !== undefined) return caller.call(reader, { path: { id } });
      const list = Object.entries(listsOfEnvironments).find(([name]) => name === kind)?.[1] ?? '';
      const environment = await caller.environment(id);
      const query = kind === 'deployments' || kind === 'backups' ? { limit: '10' } : {};
      return caller.call(list, { path: { id: String(environment.id) }, query });
    },
  }),
  tool({
    name: 'set_variables',
    title: 'Set variables',
    description:
      'Set variables of an environment, secret unless said otherwise; `remove` takes some away and needs `confirm` with the name of the environment. The answer says whether a deployment is needed. Values are not repeated.',
    isRead: false,
    input: Type.Object(
      {
        environment: environmentField,
        variables: Type.Optional(
          Type.Array(
            Type.Object(
              {
                key: Type.String({ maxLength: 200 }),
                value: Type.String({ maxLength: 65_536 }),
                secret: Type.Optional(Type.Boolean()),
                target: Type.Optional(Type.Enum(['build', 'runtime', 'both'])),
              },
              closed,
            ),
            { maxItems: 100 },
          ),
        ),
        remove: Type.Optional(Type.Array(Type.String({ maxLength: 200 }), { maxItems: 100 })),
        confirm: Type.Optional(confirmField),
      },
      closed,
    ),
    run: async (caller, { environment, variables = [], remove = [], confirm }) => {
      const { id, name } = await caller.environment(environment);
      const path = { id: String(id) };
      if (remove.length > 0)
        requireConfirm(confirm, String(name), `${remove.length} variables would be removed.`);
      const set =
        variables.length > 0 ? await caller.call('setVariables', { path, body: { variables } }) : null;
      for (const key of remove) await caller.call('deleteVariable', { path: { ...path, key } });
      return { set: set && withoutValues(set), removed: remove };
    },
  }),
  tool({
    name: 'backup',
    title: 'Backups',
    description:
      'Of an environment: list them, make one, or restore one. A restore replaces data and needs `confirm` with the name of the environment; what is there is backed up first.',
    isRead: false,
    input: Type.Object(
      {
        environment: environmentField,
        action: Type.Enum(['list', 'make', 'restore']),
        backup: Type.Optional(
          Type.String({ format: 'uuid', maxLength: 36, description: 'What is restored.' }),
        ),
        confirm: Type.Optional(confirmField),
      },
      closed,
    ),
    run: async (caller, { environment, action, backup, confirm }) => {
      const { id, name } = await caller.environment(environment);
      const path = { id: String(id) };
      if (action === 'list') return caller.call('listBackups', { path, query: { limit: '10' } });
      if (action === 'make') return caller.call('triggerBackup', { path, body: {} });
      requireConfirm(confirm, String(name), 'The data of the environment would be replaced by the backup.');
      return caller.call('restoreBackup', { path: { ...path, bid: backup ?? '' }, body: {} });
    },
  }),
];

const searched = [
  ['project', 'listProjects'],
  ['environment', 'listEnvironments'],
  ['server', 'listServers'],
  ['domain', 'listDomains'],
  ['connector', 'listNotificationConnectors'],
] as const;

/** Undefined where the caller may not see such things at all: the rest is shown all the same. */
async function allowed(list: ReturnType<Caller['list']>): Promise<Item[] | undefined> {
  return list.catch((error: unknown) => {
    const { code } = Object(Object(error).problem);
    if (code === 'forbidden' || code === 'not_found') return undefined;
    throw error;
  });
}

function environmentLine({ id, name, branch, status, url, problem, currentDeploymentId }: Item): Item {
  return { id, name, branch, status, url, problem: Object(problem).code ?? null, currentDeploymentId };
}

function withoutValues(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutValues);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => name !== 'value');
  return Object.fromEntries(kept.map(([name, each]) => [name, withoutValues(each)]));
}
