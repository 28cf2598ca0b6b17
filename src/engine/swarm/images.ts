/**
 * The image of a release on every member. The only place that knows how it comes there: copied from one that has it to those
 * that lack it, without the layers that they have, and named after its id, so that a name stands for one content for ever. The
 * name leads to no registry: who asks one for it is refused at once, on the machine itself.
 */
import type { Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import {
  inspectImage,
  listImages,
  readImage,
  readImages,
  readLayers,
  referencesOf,
  removeImage,
  tagImage,
} from '../../adapters/docker/images.ts';
import { minute } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import { askHost, askOne, type DockerHost, lostWithDocker } from '../docker-host.ts';
import { labelsOf } from '../placement.ts';
import { type Cluster, onServersUp } from './cluster.ts';
import { replicasOf } from './replicas.ts';

const repository = '127.0.0.1:9/slipway';
const copyMs = 30 * minute;

function referenceOf(imageId: string): string {
  return `${repository}:${imageId.replace(/^sha256:/, '')}`;
}

/** The other way round. */
export function imageIdIn(reference: string): string {
  return `sha256:${tagOf(reference)}`;
}

export function isOurReference(tag: string): boolean {
  return tag.startsWith(`${repository}:`);
}

/** What a service names it by, once all that are up have it. */
export async function imageForMembers(cluster: Cluster, imageId: string): Promise<string> {
  const reference = referenceOf(imageId);
  const known = await onServersUp(cluster, async (host) => ({ host, has: await isThere(host, imageId) }));
  const upAndHaving = known.filter(({ has }) => has).map(({ host }) => host);
  const sources = upAndHaving.length > 0 ? upAndHaving : [await homeWith(cluster, imageId)];
  const source = sources.find((host) => host.remote === cluster.home.remote) ?? sources[0] ?? cluster.home;
  for (const host of sources) await askHost(host, [tagImage(imageId, repository, tagOf(reference))]);
  const lacking = known.filter(({ has }) => !has).map(({ host }) => host);
  const copies = lacking.map((host) => bring(source, host, imageId));
  // All to their end: a step that has failed leaves nothing running.
  for (const end of await Promise.allSettled(copies)) if (end.status === 'rejected') throw end.reason;
  return reference;
}

/** Of all that runs, on all that are up. */
export async function ensureImages(cluster: Cluster): Promise<void> {
  const references = (await replicasOf(cluster)).map(({ service }) => service.image);
  for (const reference of new Set(references.filter(isOurReference)))
    await imageForMembers(cluster, imageIdIn(reference));
}

/** Where it was built. Swarm may still call it down when it is back; where it does not answer, it is waited for. */
async function homeWith({ home }: Cluster, imageId: string): Promise<DockerHost> {
  if (await isThere(home, imageId)) return home;
  throw new Fault('docker_failed', 'No server of the cluster has the image of the release any more.', {
    hint: 'Deploy the environment again: that builds it anew.',
    evidence: imageId,
  });
}

const tagOf = (reference: string) => reference.slice(repository.length + 1);

async function isThere(host: DockerHost, imageId: string): Promise<boolean> {
  const [reply] = await askHost(host, [inspectImage(imageId)]);
  return reply !== undefined && readImage(reply) !== undefined;
}

async function bring(from: DockerHost, to: DockerHost, imageId: string): Promise<void> {
  const reference = referenceOf(imageId);
  const layers = await commonLayers(from, to, imageId);
  if (layers.length > 0) {
    const members = layers.map((layer) => layer.replace(/^sha256:/, 'blobs/sha256/'));
    const failed = await copy(from, ['sh', '-c', thinScript, 'slipway', reference, ...members], to);
    if (failed === null && (await isThere(to, imageId))) return;
    // An older Docker names layers otherwise in what it saves, and another store may want all of them.
  }
  const failed = await copy(from, ['docker', 'save', reference], to);
  if (failed === null) return;
  const evidence = `${reference}: ${failed}`;
  throw (
    lostWithDocker(failed) ??
    new Fault('remote_failed', 'The image could not be copied to another server of the cluster.', {
      evidence,
    })
  );
}

/** What Docker saves, without these. Who has a layer does not read it when the image is loaded. */
const thinScript = 'reference=$1; shift; docker save "$reference" | tar --delete --file=- "$@"';

/** The lowest layers of the image that the other has already, of whatever environment. */
async function commonLayers(from: DockerHost, to: DockerHost, imageId: string): Promise<string[]> {
  const [own] = await askHost(from, [inspectImage(imageId)]);
  const [listed] = await askHost(to, [listImages({ slipway: 'image' })]);
  if (!own || !listed) return [];
  const layers = readLayers(own);
  const there = await askHost(
    to,
    readImages(listed).map(({ id }) => inspectImage(id)),
  );
  const shared = there.map((reply) => {
    const others = readLayers(reply);
    const differs = layers.findIndex((layer, at) => layer !== others[at]);
    return differs === -1 ? layers.length : differs;
  });
  return layers.slice(0, Math.max(0, ...shared));
}

/** Null, or what the two said where one of them failed: the one that gives it, and the one that takes it. */
async function copy(from: DockerHost, saving: readonly string[], to: DockerHost): Promise<string | null> {
  const { signal } = to;
  const options = { timeoutMs: copyMs, signal };
  const [giving, taking] = await Promise.all([
    from.remote.stream(saving, options),
    to.remote.stream(['docker', 'load', '--quiet'], options),
  ]);
  taking.stdout.resume();
  const said = [giving, taking].map(({ stderr }) => endOf(stderr));
  const sending = pipeline(giving.stdout, taking.stdin).catch((error: unknown) => {
    // It would wait for the rest.
    taking.stdout.destroy();
    throw error;
  });
  const [sent, gave, took] = await Promise.allSettled([sending, giving.ended, taking.ended]);
  const codes = [gave, took].flatMap((end) => (end.status === 'fulfilled' ? [end.value.code] : []));
  if (codes.every((code) => code === 0)) {
    for (const each of [sent, gave, took]) if (each.status === 'rejected') throw each.reason;
    return null;
  }
  // One that failed by itself breaks the other off; only it knows why.
  return (await Promise.all(said)).join('').trim();
}

const saidBytes = 4 * 1024;

async function endOf(stream: Readable): Promise<string> {
  let end = Buffer.alloc(0);
  stream.on('data', (bytes: Buffer) => {
    end = Buffer.concat([end, bytes]).subarray(-saidBytes);
  });
  // It may be broken off; what came by then is told.
  await finished(stream).catch(() => undefined);
  return end.toString('utf8');
}

/** From its home: another name than its own would keep an image that is removed there. */
export async function forgetImages({ home }: Cluster, imageIds: readonly string[]): Promise<void> {
  await askHost(
    home,
    imageIds.map((id) => removeImage(referenceOf(id))),
  );
}

/**
 * What the home of the environment has no more goes from the others: not by what was removed just now, of which a server that was
 * away heard nothing. One that still runs somewhere refuses by itself.
 */
export async function removeCopies(cluster: Cluster): Promise<void> {
  const labels = labelsOf(cluster.placement, 'image');
  const imagesOn = async (host: DockerHost) => readImages(await askOne(host, listImages(labels)));
  const kept = new Set((await imagesOn(cluster.home)).map(({ id }) => id));
  await onServersUp(cluster, async (host) => {
    const old = (await imagesOn(host)).filter(({ id }) => !kept.has(id));
    await askHost(host, old.flatMap(referencesOf).map(removeImage));
  });
}
