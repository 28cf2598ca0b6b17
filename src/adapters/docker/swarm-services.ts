/** Services of a swarm, each with one task that Swarm places and heals: the calls to a manager, and what it tells of them. */
import type { Secret } from '../../secret.ts';
import { environmentOf } from './containers.ts';
import type { Call, Reply } from './docker.ts';
import { fieldsOf, labelFilter, listOf, numberOf, textOf, textsOf } from './json.ts';

const mebibyte = 1024 * 1024;
const secondInNs = 1e9;
const pidsLimit = 512;
/** Swarm starts anew what has ended, after a pause: it would take a processor otherwise where it ends at once. */
const restartDelaySeconds = 1;

const onNode = 'node.id==';
const once = 'none';
const refusedLabel = 'slipway.refused-by';

export interface SwarmServiceSpec {
  readonly name: string;
  /** On every member, or pulled by each. */
  readonly image: string;
  /** On the service and on its containers. */
  readonly labels: Readonly<Record<string, string>>;
  readonly network: string;
  readonly aliases: readonly string[];
  readonly environment: ReadonlyMap<string, Secret>;
  readonly command?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly capabilities: readonly string[];
  readonly memoryMb: number;
  readonly cpus: number;
  readonly stopSeconds: number;
  /** Made where it runs, if they are not there. */
  readonly volumes: readonly { readonly volume: string; readonly path: string }[];
  /** Of each volume that is made. */
  readonly volumeLabels: Readonly<Record<string, string>>;
  /** It has no task until it is given one, which is run to its end and not started again. */
  readonly runsOnce: boolean;
  /** The only node that it may run on. */
  readonly nodeId: string | null;
  /** A port of whichever server it runs on, which leads to one of the container. */
  readonly published: { readonly port: number; readonly target: number } | null;
}

/**
 * By its name in DNS alone: Swarm's virtual addresses go on leading to containers that are gone. Closed off like every other
 * container of ours, but for the control group that bounds all together: Swarm has no word for it.
 */
export function createService(spec: SwarmServiceSpec): Call {
  const { name, labels, published } = spec;
  const port = published && {
    Protocol: 'tcp',
    TargetPort: published.target,
    PublishedPort: published.port,
    PublishMode: 'host',
  };
  const body = {
    Name: name,
    Labels: labels,
    TaskTemplate: {
      ContainerSpec: containerSpec(spec),
      Resources: {
        Limits: {
          MemoryBytes: Math.round(spec.memoryMb * mebibyte),
          NanoCPUs: Math.round(spec.cpus * 1e9),
          Pids: pidsLimit,
        },
      },
      RestartPolicy: spec.runsOnce
        ? { Condition: once }
        : { Condition: 'any', Delay: restartDelaySeconds * secondInNs, MaxAttempts: 0 },
      ...(spec.nodeId !== null && { Placement: { Constraints: [`${onNode}${spec.nodeId}`] } }),
      Networks: [{ Target: spec.network, Aliases: spec.aliases }],
      LogDriver: { Name: 'json-file', Options: { 'max-size': '10m', 'max-file': '3' } },
    },
    Mode: { Replicated: { Replicas: spec.runsOnce ? 0 : 1 } },
    EndpointSpec: { Mode: 'dnsrr', Ports: port ? [port] : [] },
  };
  return { method: 'POST', path: '/services/create', body, ok: [201, 409] };
}

function containerSpec(spec: SwarmServiceSpec) {
  return {
    Image: spec.image,
    Labels: spec.labels,
    Env: environmentOf(spec.environment),
    ...(spec.entrypoint && { Command: spec.entrypoint }),
    ...(spec.command && { Args: spec.command }),
    Init: true,
    StopGracePeriod: spec.stopSeconds * secondInNs,
    CapabilityDrop: ['ALL'],
    CapabilityAdd: spec.capabilities,
    Privileges: { NoNewPrivileges: true },
    Mounts: spec.volumes.map(({ volume, path }) => ({
      Type: 'volume',
      Source: volume,
      Target: path,
      VolumeOptions: { Labels: spec.volumeLabels },
    })),
  };
}

export interface SwarmService {
  readonly id: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly version: number;
  readonly spec: unknown;
  /** By its name. */
  readonly image: string;
  /** One, or none where it is stopped. */
  readonly replicas: number;
  readonly publishedPort: number | null;
  /** The most that it may have. */
  readonly memoryMb: number;
  readonly runsOnce: boolean;
  /** A volume keeps it on its node for good. */
  readonly hasVolumes: boolean;
  readonly isOnOneNode: boolean;
  /** Nodes that it was moved to, and on which it did not come to run. */
  readonly refusedBy: readonly string[];
}

export function listServices(labels: Readonly<Record<string, string>>): Call {
  return { method: 'GET', path: `/services?filters=${labelFilter(labels)}`, ok: [200] };
}

export function readServices({ body }: Reply): SwarmService[] {
  return listOf(body).map((each) => {
    const spec = fieldsOf(each, 'Spec');
    const [port] = listOf(fieldsOf(spec, 'EndpointSpec').Ports);
    return {
      id: textOf(fieldsOf(each).ID),
      name: textOf(spec.Name),
      labels: textsOf(spec.Labels),
      version: numberOf(fieldsOf(each, 'Version').Index),
      spec,
      image: textOf(fieldsOf(spec, 'TaskTemplate', 'ContainerSpec').Image),
      replicas: numberOf(fieldsOf(spec, 'Mode', 'Replicated').Replicas),
      publishedPort: port === undefined ? null : numberOf(fieldsOf(port).PublishedPort),
      memoryMb: numberOf(fieldsOf(spec, 'TaskTemplate', 'Resources', 'Limits').MemoryBytes) / mebibyte,
      runsOnce: runsOnce(spec),
      hasVolumes: listOf(fieldsOf(spec, 'TaskTemplate', 'ContainerSpec').Mounts).length > 0,
      isOnOneNode: isOnOneNode(spec),
      refusedBy: textOf(textsOf(spec.Labels)[refusedLabel]).split(' ').filter(Boolean),
    };
  });
}

/** By its spec: its tasks are started anew wherever there is room. Not one that runs once, or on one node only. */
export function isKeptAnywhere(spec: unknown): boolean {
  return !runsOnce(spec) && !isOnOneNode(spec);
}

/** On that one, or on any. */
function isOnOneNode(spec: unknown, nodeId = ''): boolean {
  const { Constraints } = fieldsOf(spec, 'TaskTemplate', 'Placement');
  return listOf(Constraints).some((each) => textOf(each).startsWith(`${onNode}${nodeId}`));
}

function runsOnce(spec: unknown): boolean {
  return textOf(fieldsOf(spec, 'TaskTemplate', 'RestartPolicy').Condition) === once;
}

export function scaleService(service: SwarmService, replicas: 0 | 1): Call {
  return updateService(service, { Mode: { Replicated: { Replicas: replicas } } });
}

/** It stays where it runs, and may be started anew anywhere. */
export function letServiceGo(service: SwarmService): Call {
  return updateService(service, { TaskTemplate: placed(service, []) });
}

/** Its task is stopped, and then started on that node. Null where it stands there by name already. */
export function moveService(service: SwarmService, nodeId: string): Call | null {
  if (isOnOneNode(service.spec, nodeId)) return null;
  return updateService(service, placedOn(service, nodeId));
}

/** With a note of it, which Swarm's own memory of what failed would soon be without. */
export function moveServiceBack(service: SwarmService, nodeId: string, refusedBy: string): Call | null {
  if (isOnOneNode(service.spec, nodeId)) return null;
  const Labels = { ...service.labels, [refusedLabel]: [...service.refusedBy, refusedBy].join(' ') };
  return updateService(service, { ...placedOn(service, nodeId), Labels });
}

function placedOn(service: SwarmService, nodeId: string): object {
  const TaskTemplate = placed(service, [`${onNode}${nodeId}`]);
  return { TaskTemplate, UpdateConfig: { Parallelism: 1, Order: 'stop-first' } };
}

/** Another task first, wherever there is room; that of a server which does not answer is given up when the new one runs. */
export function startServiceAnew(service: SwarmService): Call {
  const forced = numberOf(fieldsOf(service.spec, 'TaskTemplate').ForceUpdate);
  const TaskTemplate = { ...placed(service, []), ForceUpdate: forced + 1 };
  return updateService(service, { TaskTemplate, UpdateConfig: { Parallelism: 1, Order: 'start-first' } });
}

function placed({ spec }: SwarmService, Constraints: readonly string[]): object {
  return { ...fieldsOf(spec, 'TaskTemplate'), Placement: { Constraints } };
}

/** 500 where somebody changed it meanwhile: who asks looks again. */
function updateService({ id, version, spec }: SwarmService, changed: object): Call {
  const body = { ...fieldsOf(spec), ...changed };
  return { method: 'POST', path: `/services/${id}/update?version=${version}`, body, ok: [200, 404] };
}

export function removeService(name: string): Call {
  return { method: 'DELETE', path: `/services/${encodeURIComponent(name)}`, ok: [200, 404] };
}

export interface SwarmTask {
  readonly id: string;
  readonly serviceId: string;
  /** Empty until it was placed. */
  readonly nodeId: string;
  readonly state: string;
  readonly desiredState: string;
  readonly createdAt: string;
  /** Of its last change. */
  readonly at: string;
  /** What Swarm says of why it cannot be placed or started. */
  readonly error: string;
  readonly containerId: string;
  readonly exitCode: number;
}

/** Those that carry the labels of their service. */
export function listTasks(labels: Readonly<Record<string, string>>): Call {
  return { method: 'GET', path: `/tasks?filters=${labelFilter(labels)}`, ok: [200] };
}

/** The newest first. */
export function readTasks({ body }: Reply): SwarmTask[] {
  const tasks = listOf(body).map((each) => {
    const [fields, status] = [fieldsOf(each), fieldsOf(each, 'Status')];
    const container = fieldsOf(status, 'ContainerStatus');
    return {
      id: textOf(fields.ID),
      serviceId: textOf(fields.ServiceID),
      nodeId: textOf(fields.NodeID),
      state: textOf(status.State),
      desiredState: textOf(fields.DesiredState),
      createdAt: textOf(fields.CreatedAt),
      at: textOf(status.Timestamp),
      error: textOf(status.Err),
      containerId: textOf(container.ContainerID),
      exitCode: numberOf(container.ExitCode),
    };
  });
  return tasks.sort((one, other) => (one.createdAt < other.createdAt ? 1 : -1));
}

/** Between all members; containers outside of services may join it, too. */
export function createOverlay(
  name: string,
  labels: Readonly<Record<string, string>>,
  { isEncrypted }: { readonly isEncrypted: boolean },
): Call {
  const body = {
    Name: name,
    Driver: 'overlay',
    CheckDuplicate: true,
    Attachable: true,
    EnableIPv6: false,
    Options: isEncrypted ? { encrypted: '' } : {},
    Labels: labels,
  };
  return { method: 'POST', path: '/networks/create', body, ok: [201, 409] };
}
