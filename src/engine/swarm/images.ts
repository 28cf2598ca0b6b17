/**
 * The image of a release on every member. The only place that knows how it comes there: copied from one that has it to those
 * that lack it, and named after its id, so that a name stands for one content for ever. The name leads to no registry: who asks
 * one for it is refused at once, on the machine itself.
 */
import { pipeline } from 'node:stream/promises';
import { inspectImage, readImage, removeImage, tagImage } from '../../adapters/docker/images.ts';
import { minute } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import { askHost, type DockerHost } from '../docker-host.ts';
import { type Cluster, onServersUp } from './cluster.ts';

const repository = '127.0.0.1:9/slipway';
const copyMs = 30 * minute;

function referenceOf(imageId: string): string {
  return `${repository}:${imageId.replace(/^sha256:/, '')}`;
}

export function isOurReference(tag: string): boolean {
  return tag.startsWith(`${repository}:`);
}

/** What a service names it by, once all that are up have it. */
export async function imageForMembers(cluster: Cluster, imageId: string): Promise<string> {
  const reference = referenceOf(imageId);
  const known = await onServersUp(cluster, async (host) => ({ host, has: await isThere(host, imageId) }));
  const sources = known.filter(({ has }) => has).map(({ host }) => host);
  const source = sources.find((host) => host.remote === cluster.home.remote) ?? sources[0];
  if (!source)
    throw new Fault('docker_failed', 'No server of the cluster has the image of the release any more.', {
      hint: 'Deploy the environment again: that builds it anew.',
      evidence: imageId,
    });
  for (const host of sources) await askHost(host, [tagImage(imageId, repository, tagOf(reference))]);
  for (const { host, has } of known) if (!has) await copy(source, host, reference);
  return reference;
}

const tagOf = (reference: string) => reference.slice(repository.length + 1);

async function isThere(host: DockerHost, imageId: string): Promise<boolean> {
  const [reply] = await askHost(host, [inspectImage(imageId)]);
  return reply !== undefined && readImage(reply) !== undefined;
}

async function copy(from: DockerHost, to: DockerHost, reference: string): Promise<void> {
  const { signal } = to;
  const options = { timeoutMs: copyMs, signal };
  const [saving, loading] = await Promise.all([
    from.remote.stream(['docker', 'save', reference], options),
    to.remote.stream(['docker', 'load', '--quiet'], options),
  ]);
  // What they print beside the image is not read; it must not stand in the way.
  for (const each of [saving.stderr, loading.stderr, loading.stdout]) each.resume();
  await pipeline(saving.stdout, loading.stdin);
  const codes = [(await saving.ended).code, (await loading.ended).code];
  if (codes.every((code) => code === 0)) return;
  throw new Fault('remote_failed', 'The image could not be copied to another server of the cluster.', {
    evidence: `docker save ended with ${codes[0]}, docker load with ${codes[1]}: ${reference}`,
  });
}

/** One that still runs somewhere refuses by itself. */
export async function forgetImages(cluster: Cluster, imageIds: readonly string[]): Promise<void> {
  if (imageIds.length === 0) return;
  await onServersUp(cluster, (host) =>
    askHost(
      host,
      imageIds.map((id) => removeImage(referenceOf(id))),
    ),
  );
}
