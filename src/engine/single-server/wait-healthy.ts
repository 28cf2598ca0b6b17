/**
 * Waits until every container of a release answers. The probes are sent on the server, many in one round trip; each is
 * kept. A container that dies is noticed at once, and what is wrong is said in words that help.
 */
import {
  containerLogs,
  inspectContainer,
  readContainer,
  readLogs,
} from '../../adapters/docker/containers.ts';
import type { ContainerState } from '../../adapters/docker/docker.ts';
import { listeningIn } from '../../adapters/docker/sockets.ts';
import type { Fault } from '../../fault.ts';
import { redactWhole } from '../../remote/exec/redact.ts';
import type { Exchange, RelayAttempt } from '../../remote/remote.ts';
import type { Secret } from '../../secret.ts';
import { forContainers, limitsOf } from '../capacity.ts';
import { diagnose, earlyWord } from '../diagnosis.ts';
import { askOne, type DockerHost } from '../docker-host.ts';
import type { HealthCheck, RunningInstance } from '../engine.ts';
import { hasReached, isHealthy, type Probe, probeRequest, readProbe } from '../health-probe.ts';
import type { RunPlan } from '../release-spec.ts';
import { wasOutOfMemory } from './inspect.ts';

/** So long one round trip probes before it looks at the containers, too. */
const turnMs = 4_000;
const everyMs = 200;
const probeBytes = 8 * 1024;
const shownLines = 40;

/** Throws the diagnosis where one of them does not become healthy in its time. */
export async function waitHealthy(host: DockerHost, check: HealthCheck): Promise<void> {
  for (const container of check.instances) await waitForOne(host, check, container);
}

async function waitForOne(host: DockerHost, check: HealthCheck, container: RunningInstance): Promise<void> {
  const inDocker = container.container ?? container.name;
  const { remote, fence, signal } = host;
  const { startSeconds } = check.run.health;
  const probes: Probe[] = [];
  let told = '';
  const deadline = performance.now() + startSeconds * 1_000;
  for (;;) {
    signal.throwIfAborted();
    const begunAt = startSeconds * 1_000 - (deadline - performance.now());
    const [answer] = await remote.relay([probeOf(check.run, container)], { fence, signal });
    for (const each of answer?.tries ?? []) {
      const probe = probeIn({ ...each, atMs: Math.round(begunAt + each.atMs) }, check.secrets);
      probes.push(probe);
      check.onProbe(container.name, probe);
    }
    // Also where it answered and then held the connection open: the server's own program saw no end there.
    const last = probes.at(-1);
    if (answer?.last.isMet || (last && isHealthy(last, check.run.health.path))) return;
    const state = await inspect(host, inDocker);
    const isOver = performance.now() > deadline;
    if (isOver || isHopeless(state)) throw await explain(host, check, inDocker, state, probes);
    const word = await lookEarly(host, check, state, probes);
    // Seen twice, it is no moment between two of its starts.
    if (word?.isFinal && word.sentence === told) throw await explain(host, check, inDocker, state, probes);
    if (word && word.sentence !== told) check.onWarning?.(word.sentence);
    told = word?.sentence ?? '';
  }
}

/** Only of one that nobody has reached yet: where it listens instead. */
async function lookEarly(
  host: DockerHost,
  { run }: HealthCheck,
  state: ContainerState | undefined,
  probes: readonly Probe[],
) {
  const last = probes.at(-1);
  if (!state || state.pid <= 0 || (last && hasReached(last))) return undefined;
  const listening = await listeningIn(host.remote, state.pid);
  const wanted = { port: run.health.port ?? run.port, path: run.health.path };
  return earlyWord({ wanted, probes, listening, startSeconds: run.health.startSeconds });
}

function probeOf({ port, health }: RunPlan, { address, name, ...at }: RunningInstance): Exchange {
  const common = {
    to: { host: address, port: at.port ?? health.port ?? port },
    maxBytes: probeBytes,
    timeoutMs: health.timeoutSeconds * 1_000,
  };
  const until = { everyMs, forMs: turnMs };
  // An open port is all that is asked for: nothing is sent, and nothing is waited for.
  if (health.path === null) return { ...common, send: '', until, maxBytes: 0 };
  return {
    ...common,
    send: probeRequest({ path: health.path, host: name, port: health.port ?? port }),
    until,
    expect: '^HTTP/1\\.[01] 2',
  };
}

/** An app may say its secrets in an answer, too. */
function probeIn(one: RelayAttempt, secrets: readonly Secret[]): Probe {
  const { atMs, isMet } = one;
  if (!isMet || one.bytes.length > 0) return readProbe(one, secrets);
  return { atMs, outcome: 'ok', status: null, location: null, body: '', problem: null };
}

async function inspect(host: DockerHost, name: string): Promise<ContainerState | undefined> {
  return readContainer(await askOne(host, inspectContainer(name)));
}

/** It was started again and again, or it is gone: waiting on does not help. */
function isHopeless(state: ContainerState | undefined): boolean {
  return !state || state.restarts >= 3 || state.status === 'dead' || state.status === 'exited';
}

async function explain(
  host: DockerHost,
  { run, secrets, variables }: HealthCheck,
  name: string,
  state: ContainerState | undefined,
  probes: readonly Probe[],
): Promise<Fault> {
  const logs = await askOne(host, containerLogs(name, shownLines));
  const isOutOfMemory = state !== undefined && (await wasOutOfMemory(host, state));
  const listening = state && state.pid > 0 ? await listeningIn(host.remote, state.pid) : [];
  const bytes = logs.status === 200 ? logs.bytes : Buffer.alloc(0);
  // All of it at once: a secret of several lines is only found whole.
  const said = readLogs(bytes).map(({ line }) => line);
  const lastLines = redactWhole(Buffer.from(said.join('\n')), secrets)
    .toString('utf8')
    .split('\n');
  return diagnose({
    wanted: { port: run.health.port ?? run.port, path: run.health.path },
    probes,
    containers: state ? [{ ...state, isOutOfMemory }] : [],
    listening,
    lastLines,
    missing: (run.requiredKeys ?? []).filter((key) => variables?.has(key) === false),
    memoryMb: limitsOf(run, host.capacity).memoryMb.limit,
    mostMemoryMb: forContainers(host.capacity).memoryMb,
    startSeconds: run.health.startSeconds,
  });
}
