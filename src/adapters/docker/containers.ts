/** Containers: the calls that make, run and remove them, and what Docker tells of them. */
import { Fault } from '../../fault.ts';
import type { Call, ContainerSpec, ContainerState, Reply } from './docker.ts';
import { fieldsOf, labelFilter, listOf, numberOf, textOf, textsOf } from './json.ts';

const defaultPids = 512;
/** Of 1000: ended before everything of the system, also where the kernel knows of no control groups. */
const defaultOomScoreAdj = 500;
const mebibyte = 1024 * 1024;

/** What a list tells; the rest is asked of each. */
export type ListedContainer = Pick<ContainerState, 'name' | 'id' | 'labels' | 'status' | 'address' | 'image'>;

/** Refused as a conflict where the name is taken: it is there already. */
export function createContainer(spec: ContainerSpec): Call {
  const { name, image, labels, command, entrypoint, user, stopSeconds } = spec;
  const body = {
    Image: image,
    Labels: labels,
    Env: environmentOf(spec.environment),
    ...(command && { Cmd: command }),
    ...(entrypoint && { Entrypoint: entrypoint }),
    ...(user !== undefined && { User: user }),
    StopTimeout: stopSeconds,
    HostConfig: hostConfig(spec),
    NetworkingConfig: { EndpointsConfig: { [spec.network]: endpoint(spec) } },
  };
  return {
    method: 'POST',
    path: `/containers/create?name=${encodeURIComponent(name)}`,
    body,
    ok: [201, 409],
  };
}

/** Closed off by default; only what the spec names is opened. Nothing is published: the proxy reaches it by its address. */
function hostConfig(spec: ContainerSpec) {
  const memory = Math.round(spec.memoryMb * mebibyte);
  return {
    NetworkMode: spec.network,
    RestartPolicy: { Name: spec.restart },
    CapDrop: ['ALL'],
    CapAdd: spec.capabilities ?? [],
    SecurityOpt: ['no-new-privileges'],
    PidsLimit: spec.pidsLimit ?? defaultPids,
    // Without it the application is process 1: signals it does not handle are ignored, and nobody reaps its orphans.
    Init: true,
    LogConfig: { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '3' } },
    // Equal, so that none of it is swap: an application over its limit ends instead of slowing the server down.
    Memory: memory,
    MemorySwap: memory,
    NanoCpus: Math.round(spec.cpus * 1e9),
    CgroupParent: spec.cgroupParent,
    OomScoreAdj: spec.oomScoreAdj ?? defaultOomScoreAdj,
    Mounts: (spec.volumes ?? []).map(({ volume, path }) => ({
      Type: 'volume',
      Source: volume,
      Target: path,
    })),
  };
}

function endpoint({ address, aliases = [] }: ContainerSpec) {
  return { Aliases: aliases, ...(address !== undefined && { IPAMConfig: { IPv4Address: address } }) };
}

export function environmentOf(environment: ContainerSpec['environment']): string[] {
  return Array.from(environment, ([key, value]) => {
    const text = value.reveal();
    if (key === '' || /[=\0]/.test(key) || text.includes('\0'))
      throw new Fault('invalid_input', 'A variable has a name or a value that no process can have.', {
        evidence: key.replaceAll('\0', '\\0'),
      });
    return `${key}=${text}`;
  });
}

export function startContainer(name: string): Call {
  return { method: 'POST', path: `${of(name)}/start`, ok: [204, 304] };
}

/** Asks it, and kills it after so many seconds. */
export function stopContainer(name: string, seconds: number): Call {
  const timeoutMs = (seconds + 30) * 1000;
  return { method: 'POST', path: `${of(name)}/stop?t=${seconds}`, ok: [204, 304, 404], timeoutMs };
}

/** Also where it runs. A conflict is a removal under way. Its volumes stay. */
export function removeContainer(name: string): Call {
  return { method: 'DELETE', path: `${of(name)}?force=true&v=false`, ok: [204, 404, 409] };
}

export function inspectContainer(name: string): Call {
  return { method: 'GET', path: `${of(name)}/json`, ok: [200, 404] };
}

/**
 * Whether it was ended for its memory shortly before `until`, in seconds: once it runs again, its state does not tell any
 * more. Docker waits for a minute at most before it starts it again.
 */
export function memoryKills(name: string, until: number): Call {
  const filters = { type: ['container'], event: ['oom'], container: [name] };
  const query = `since=${Math.max(1, until - 120)}&until=${until}&filters=${encodeURIComponent(JSON.stringify(filters))}`;
  return { method: 'GET', path: `/events?${query}`, ok: [200] };
}

export function wasKilledForMemory({ bytes }: Reply): boolean {
  return bytes.toString('utf8').includes('"oom"');
}

/** All that carry these labels, whether they run or not. */
export function listContainers(labels: Readonly<Record<string, string>>): Call {
  return { method: 'GET', path: `/containers/json?all=1&filters=${labelFilter(labels)}`, ok: [200] };
}

/** Undefined where there is none. */
export function readContainer({ status, body }: Reply): ContainerState | undefined {
  if (status === 404) return undefined;
  const [all, state, config] = [fieldsOf(body), fieldsOf(body, 'State'), fieldsOf(body, 'Config')];
  return {
    name: textOf(all.Name).replace(/^\//, ''),
    id: textOf(all.Id),
    labels: textsOf(config.Labels),
    status: statusOf(state.Status),
    exitCode: numberOf(state.ExitCode),
    isOutOfMemory: state.OOMKilled === true,
    restarts: numberOf(all.RestartCount),
    startedAt: timeOf(state.StartedAt),
    finishedAt: timeOf(state.FinishedAt),
    pid: numberOf(state.Pid),
    address: addressOf(fieldsOf(body, 'NetworkSettings', 'Networks')),
    image: textOf(all.Image),
  };
}

export function readContainers({ body }: Reply): ListedContainer[] {
  return listOf(body).map((each) => {
    const fields = fieldsOf(each);
    return {
      name: textOf(listOf(fields.Names)[0]).replace(/^\//, ''),
      id: textOf(fields.Id),
      labels: textsOf(fields.Labels),
      status: statusOf(fields.State),
      address: addressOf(fieldsOf(each, 'NetworkSettings', 'Networks')),
      image: textOf(fields.ImageID),
    };
  });
}

const statuses = ['created', 'running', 'restarting', 'paused', 'exited', 'dead', 'removing'] as const;

function statusOf(value: unknown): ContainerState['status'] {
  const found = statuses.find((each) => each === value);
  if (!found)
    throw new Fault('docker_failed', 'Docker told a state of a container that is not known.', {
      evidence: textOf(value),
    });
  return found;
}

/** Docker writes the year 1 where there is no time. */
function timeOf(value: unknown): string | null {
  const text = textOf(value);
  return text === '' || text.startsWith('0001-') ? null : text;
}

/** The one it has; where it does not run, the one it will have. */
function addressOf(networks: Readonly<Record<string, unknown>>): string | null {
  for (const network of Object.values(networks)) {
    const address = textOf(fieldsOf(network).IPAddress);
    const assigned = textOf(fieldsOf(network, 'IPAMConfig').IPv4Address);
    if (address !== '' || assigned !== '') return address === '' ? assigned : address;
  }
  return null;
}

function of(name: string): string {
  return `/containers/${encodeURIComponent(name)}`;
}

export { containerLogs, type LogLine, readLogs, readMemory, statsOf } from './container-output.ts';
