/** The lists that several pages show, each with the events that change it. */
import {
  all,
  type Cluster,
  type Deployment,
  type DeploymentList,
  type Domain,
  type Environment,
  type GitProvider,
  type NotificationConnectorList,
  type Operation,
  type Project,
  type Server,
} from '../../sdk/index.ts';
import { api } from './api.ts';
import { type Used, useResource } from './resource.ts';

export async function gathered<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const limit = 100;

export function useProjects(): Used<readonly Project[]> {
  return useResource(
    'projects',
    (options) => gathered(all((page) => api.listProjects({ ...page, limit }, options))),
    ({ kind }) => kind === 'project_updated',
  );
}

export function useProject(id: string): Used<Project> {
  return useResource(
    `project ${id}`,
    (options) => api.getProject({ id }, options),
    (event) => event.kind === 'project_updated' && event.projectId === id,
  );
}

export function useServers(): Used<readonly Server[]> {
  return useResource(
    'servers',
    (options) => gathered(all((page) => api.listServers({ ...page, limit }, options))),
    // Whether it is in a cluster is a part of it.
    ({ kind }) => kind === 'server_updated' || kind === 'cluster_updated',
  );
}

export function useServer(id: string): Used<Server> {
  return useResource(
    `server ${id}`,
    (options) => api.getServer({ id }, options),
    (event) => (event.kind === 'server_updated' && event.serverId === id) || event.kind === 'cluster_updated',
  );
}

export function useClusters(): Used<readonly Cluster[]> {
  return useResource(
    'clusters',
    (options) => gathered(all((page) => api.listClusters({ ...page, limit }, options))),
    ({ kind }) => kind === 'cluster_updated',
  );
}

export function useCluster(id: string): Used<Cluster> {
  return useResource(
    `cluster ${id}`,
    (options) => api.getCluster({ id }, options),
    (event) => event.kind === 'cluster_updated' && event.clusterId === id,
  );
}

export function useDomains(): Used<readonly Domain[]> {
  return useResource(
    'domains',
    (options) => gathered(all((page) => api.listDomains({ ...page, limit }, options))),
    ({ kind }) => kind === 'domain_updated',
  );
}

export function useGitProviders(): Used<readonly GitProvider[]> {
  return useResource(
    'git providers',
    (options) => gathered(all((page) => api.listGitProviders({ ...page, limit }, options))),
    ({ kind }) => kind === 'git_provider_updated',
  );
}

export function useConnectors(): Used<NotificationConnectorList> {
  return useResource(
    'connectors',
    (options) => api.listNotificationConnectors({ limit }, options),
    ({ kind }) => kind === 'connector_updated',
  );
}

export function useEnvironment(id: string): Used<Environment> {
  return useResource(
    `environment ${id}`,
    (options) => api.getEnvironment({ id }, options),
    (event) => event.kind === 'project_updated' && event.environmentId === id,
  );
}

export function useDeployments(id: string): Used<DeploymentList> {
  return useResource(
    `deployments ${id}`,
    (options) => api.listDeployments({ id, limit: 30 }, options),
    (event) =>
      event.kind === 'project_updated' && event.environmentId === id && event.deploymentId !== undefined,
  );
}

export function useDeployment(id: string, did: string): Used<Deployment> {
  return useResource(
    `deployment ${did}`,
    (options) => api.getDeployment({ id, did }, options),
    (event) => event.kind === 'project_updated' && event.deploymentId === did,
  );
}

/** The newest long work of the workspace, of every kind. */
export function useOperations(count = limit): Used<readonly Operation[]> {
  return useResource(
    `operations ${count}`,
    async (options) => (await api.listOperations({ limit: count }, options)).items,
    ({ kind }) => kind === 'operation_updated',
  );
}

/** With its steps. */
export function useOperation(id: string): Used<Operation> {
  return useResource(
    `operation ${id}`,
    (options) => api.getOperation({ id }, options),
    (event) => event.kind === 'operation_updated' && event.operationId === id,
  );
}
