/** What is on a server of an environment's services right now; where all is well, in one round trip. */
import { exchangeOf, replyOf } from '../../adapters/docker/ask.ts';
import { type ListedContainer, listContainers, readContainers } from '../../adapters/docker/containers.ts';
import type { Reply } from '../../adapters/docker/docker.ts';
import { inspectImage, readImage } from '../../adapters/docker/images.ts';
import { Fault } from '../../fault.ts';
import type { Secret } from '../../secret.ts';
import { labelsOf, type Site, serviceContainer } from '../environments/place.ts';
import { type OpenService, openServices } from './credentials.ts';
import { healthExchange, imageFor, wishLabel, wishMark } from './service-container.ts';
import type { ServicesContext } from './services.ts';

export interface SeenService {
  readonly service: OpenService;
  readonly container: ListedContainer | undefined;
  /** Whether it is the container that is wanted, running or not. */
  readonly isAsWanted: boolean;
  readonly isHealthy: boolean;
}

export interface SeenServices {
  readonly services: readonly SeenService[];
  /** Of services that are not wanted any more, or never were. */
  readonly unwanted: readonly ListedContainer[];
  readonly missingImages: ReadonlySet<string>;
}

export async function lookAtServices(ctx: ServicesContext, site: Site): Promise<SeenServices> {
  const { workspaceId, environmentId } = site.place;
  const services = await ctx.db.transaction((tx) => openServices(tx, ctx.sealer, workspaceId, environmentId));
  return look(site, services);
}

/** Those that may not run are not asked at once: where nothing is, an answer takes seconds to fail. */
export async function look(site: Site, services: readonly OpenService[]): Promise<SeenServices> {
  const { place, remote, fence, signal } = site;
  const images = [...new Set(services.map(imageFor))];
  const calls = [listContainers(labelsOf(place, 'service')), ...images.map(inspectImage)];
  const asked = services.filter(({ status }) => status === 'running');
  const exchanges = [...calls.map(exchangeOf), ...asked.map((each) => healthExchange(place, each))];
  const secrets = secretsOf(services);
  const answers = await remote.relay(exchanges, { fence, signal, secrets });
  const [listed, ...inspected] = calls.map((call, index): Reply => {
    const answer = answers[index];
    if (!answer) throw new Fault('remote_failed', 'The server skipped a call to Docker.');
    return replyOf(call, answer, { secrets });
  });
  const containers = listed ? readContainers(listed) : [];
  const containerOf = ({ id }: OpenService) => containers.find(({ name }) => name === serviceContainer(id));
  const answered = asked.slice(0, answers.length - calls.length);
  const healthy = new Set(answered.filter((_, index) => answers[calls.length + index]?.last.isMet));
  // The first that does not answer ends the round trip: those behind it, and those that were not asked, come now.
  for (const each of services) {
    if (answered.includes(each) || containerOf(each)?.status !== 'running') continue;
    if (await isAnswering(site, each)) healthy.add(each);
  }
  const names = new Set(services.map(({ id }) => serviceContainer(id)));
  return {
    services: services.map((service) => {
      const container = containerOf(service);
      const isAsWanted = container?.labels[wishLabel] === wishMark(place, service);
      return { service, container, isAsWanted, isHealthy: healthy.has(service) };
    }),
    unwanted: containers.filter(({ name }) => !names.has(name)),
    missingImages: new Set(images.filter((_, index) => !inspected[index] || !readImage(inspected[index]))),
  };
}

async function isAnswering({ place, remote, signal }: Site, service: OpenService): Promise<boolean> {
  const [answer] = await remote.relay([healthExchange(place, service)], {
    signal,
    secrets: secretsOf([service]),
  });
  return answer?.last.isMet === true;
}

export function secretsOf(services: readonly OpenService[]): Secret[] {
  return services.flatMap(({ credentials }) => [credentials.password, credentials.adminPassword]);
}
