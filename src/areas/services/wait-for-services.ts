/** Waits until services take connections. One that crashes is noticed long before its time is up. */
import { ask } from '../../adapters/docker/ask.ts';
import {
  containerLogs,
  inspectContainer,
  readContainer,
  readLogs,
} from '../../adapters/docker/containers.ts';
import type { ContainerState } from '../../adapters/docker/docker.ts';
import { Fault } from '../../fault.ts';
import { redactWhole } from '../../remote/exec/redact.ts';
import { type Site, serviceContainer } from '../environments/place.ts';
import type { OpenService } from './credentials.ts';
import { kinds } from './kinds/kinds.ts';
import { secretsOf } from './look-at-services.ts';
import { healthExchange } from './service-container.ts';

export interface Waited {
  readonly ready: readonly OpenService[];
  readonly failed: readonly { readonly service: OpenService; readonly fault: Fault }[];
}

const turn = { everyMs: 200, forMs: 5_000 } as const;
const shownLines = 30;

/** One after the other: while one starts, so do the others. */
export async function waitForServices(
  site: Site,
  services: readonly OpenService[],
  mostMs: number,
): Promise<Waited> {
  const deadline = performance.now() + mostMs;
  const ready: OpenService[] = [];
  const failed: { service: OpenService; fault: Fault }[] = [];
  let waiting = [...services];
  while (waiting.length > 0) {
    site.signal.throwIfAborted();
    const exchanges = waiting.map((each) => healthExchange(site.place, each, turn));
    const { fence, signal } = site;
    const answers = await site.remote.relay(exchanges, { fence, signal, secrets: secretsOf(services) });
    const met = waiting.filter((_, index) => answers[index]?.last.isMet);
    ready.push(...met);
    waiting = waiting.filter((each) => !met.includes(each));
    const [slow] = waiting;
    if (!slow) break;
    const [state, lines] = await inspect(site, slow);
    const isOver = performance.now() > deadline;
    if (!isOver && !isHopeless(state)) continue;
    failed.push({ service: slow, fault: unhealthy(slow, state, lines, isOver ? mostMs : undefined) });
    waiting = waiting.slice(1);
  }
  return { ready, failed };
}

async function inspect(
  { remote, fence, signal }: Site,
  service: OpenService,
): Promise<[ContainerState | undefined, string]> {
  const name = serviceContainer(service.id);
  const calls = [inspectContainer(name), containerLogs(name, shownLines)];
  const [inspected, logs] = await ask(remote, calls, { fence, signal });
  const lines = logs?.status === 200 ? readLogs(logs.bytes).map(({ line }) => line) : [];
  const text = redactWhole(Buffer.from(lines.join('\n')), secretsOf([service])).toString('utf8');
  return [inspected && readContainer(inspected), text];
}

function isHopeless(state: ContainerState | undefined): boolean {
  return !state || state.restarts >= 3 || state.status === 'exited' || state.status === 'dead';
}

function unhealthy(
  { name, kind }: OpenService,
  state: ContainerState | undefined,
  evidence: string,
  waitedMs: number | undefined,
): Fault {
  const whose = `The service ${name} (${kinds[kind].title})`;
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
