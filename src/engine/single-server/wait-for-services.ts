/** Waits until services take connections. One that crashes is noticed long before its time is up. */
import {
  containerLogs,
  inspectContainer,
  readContainer,
  readLogs,
} from '../../adapters/docker/containers.ts';
import type { ContainerState } from '../../adapters/docker/docker.ts';
import { Fault } from '../../fault.ts';
import { redactWhole } from '../../remote/exec/redact.ts';
import { askHost, type DockerHost } from '../docker-host.ts';
import type { WaitedServices } from '../engine.ts';
import { serviceContainer } from '../placement.ts';
import type { ServiceSpec } from '../service-spec.ts';
import { healthExchange } from './services.ts';

const turn = { everyMs: 200, forMs: 5_000 } as const;
const shownLines = 30;

/** One after the other: while one starts, so do the others. */
export async function waitForServices(
  host: DockerHost,
  services: readonly ServiceSpec[],
  withinMs: number,
): Promise<WaitedServices> {
  const secrets = services.flatMap((each) => each.secrets);
  const deadline = performance.now() + withinMs;
  const ready: ServiceSpec[] = [];
  const failed: { service: ServiceSpec; fault: Fault }[] = [];
  let waiting = [...services];
  while (waiting.length > 0) {
    host.signal.throwIfAborted();
    const exchanges = waiting.map((each) => healthExchange(host.placement, each, turn));
    const { fence, signal } = host;
    const answers = await host.remote.relay(exchanges, { fence, signal, secrets });
    const met = waiting.filter((_, index) => answers[index]?.last.isMet);
    ready.push(...met);
    waiting = waiting.filter((each) => !met.includes(each));
    const [slow] = waiting;
    if (!slow) break;
    const [state, lines] = await inspect(host, slow);
    const isOver = performance.now() > deadline;
    if (!isOver && !isHopeless(state)) continue;
    failed.push({ service: slow, fault: unhealthy(slow, state, lines, isOver ? withinMs : undefined) });
    waiting = waiting.slice(1);
  }
  return { ready, failed };
}

async function inspect(
  host: DockerHost,
  service: ServiceSpec,
): Promise<[ContainerState | undefined, string]> {
  const name = serviceContainer(service.id);
  const calls = [inspectContainer(name), containerLogs(name, shownLines)];
  const [inspected, logs] = await askHost(host, calls);
  const lines = logs?.status === 200 ? readLogs(logs.bytes).map(({ line }) => line) : [];
  const text = redactWhole(Buffer.from(lines.join('\n')), service.secrets).toString('utf8');
  return [inspected && readContainer(inspected), text];
}

function isHopeless(state: ContainerState | undefined): boolean {
  return !state || state.restarts >= 3 || state.status === 'exited' || state.status === 'dead';
}

function unhealthy(
  { name, title }: ServiceSpec,
  state: ContainerState | undefined,
  evidence: string,
  waitedMs: number | undefined,
): Fault {
  const whose = `The service ${name} (${title})`;
  if (state?.isOutOfMemory)
    return new Fault('service_unhealthy', `${whose} needs more memory than it has.`, {
      hint: 'Give it more with `memoryMb`.',
      evidence,
    });
  const how =
    waitedMs === undefined
      ? state
        ? `ends with ${state.exitCode} soon after it is started`
        : 'has no container any more'
      : `did not take connections within ${Math.round(waitedMs / 1000)} seconds`;
  return new Fault('service_unhealthy', `${whose} ${how}.`, {
    hint: 'Its last lines, in the evidence, say why. Its data is untouched.',
    evidence,
  });
}
