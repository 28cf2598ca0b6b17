/** Images: what is known of them, which there are, and how one is fetched or removed. */
import type { Call, Reply } from './docker.ts';
import { fieldsOf, labelFilter, listOf, numberOf, textOf, textsOf } from './json.ts';

export interface ImageFacts {
  readonly id: string;
  /** Empty where it runs as root. */
  readonly user: string;
  /** Of TCP. */
  readonly exposedPorts: readonly number[];
  readonly labels: Readonly<Record<string, string>>;
  readonly createdAt: string;
  readonly sizeBytes: number;
}

export interface ListedImage {
  readonly id: string;
  readonly tags: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly createdAt: string;
  readonly sizeBytes: number;
}

export function inspectImage(ref: string): Call {
  return { method: 'GET', path: `/images/${pathOf(ref)}/json`, ok: [200, 404] };
}

/** Undefined where there is none. */
export function readImage({ status, body }: Reply): ImageFacts | undefined {
  if (status === 404) return undefined;
  const [all, config] = [fieldsOf(body), fieldsOf(body, 'Config')];
  const ports = Object.keys(fieldsOf(config, 'ExposedPorts')).filter((each) => !/\/(udp|sctp)$/.test(each));
  return {
    id: textOf(all.Id),
    user: textOf(config.User),
    exposedPorts: ports.map((each) => Number.parseInt(each, 10)).filter((port) => port > 0),
    labels: textsOf(config.Labels),
    createdAt: textOf(all.Created),
    sizeBytes: numberOf(all.Size),
  };
}

/** The layers that it is made of, from below; none where there is no such image. */
export function readLayers({ body }: Reply): string[] {
  return listOf(fieldsOf(body, 'RootFS').Layers).map(textOf);
}

export function listImages(labels: Readonly<Record<string, string>>): Call {
  return { method: 'GET', path: `/images/json?filters=${labelFilter(labels)}`, ok: [200] };
}

export function readImages({ body }: Reply): ListedImage[] {
  return listOf(body).map((each) => {
    const fields = fieldsOf(each);
    const tags = listOf(fields.RepoTags).map(textOf);
    return {
      id: textOf(fields.Id),
      tags: tags.filter((tag) => tag !== '' && tag !== '<none>:<none>'),
      labels: textsOf(fields.Labels),
      createdAt: new Date(numberOf(fields.Created) * 1000).toISOString(),
      sizeBytes: numberOf(fields.Size),
    };
  });
}

/** A conflict is an image that a container, or another tag, still needs; it stays. */
export function removeImage(ref: string): Call {
  return { method: 'DELETE', path: `/images/${pathOf(ref)}`, ok: [200, 404, 409] };
}

/** By which it is removed: each of its names, or its id where a build was cut off before it had one. */
export function referencesOf({ id, tags }: ListedImage): readonly string[] {
  return tags.length > 0 ? tags : [id];
}

/** Of those with the labels, what has no name and no container. Where others do the same at this moment, Docker refuses. */
export function pruneImages(labels: Readonly<Record<string, string>>): Call {
  return { method: 'POST', path: `/images/prune?filters=${labelFilter(labels)}`, ok: [200, 409] };
}

export function tagImage(id: string, repository: string, tag: string): Call {
  const query = `repo=${encodeURIComponent(repository)}&tag=${encodeURIComponent(tag)}`;
  return { method: 'POST', path: `/images/${pathOf(id)}/tag?${query}`, ok: [201] };
}

/** For a unit: a pull takes long, and has to outlive us. */
export function pullUnit(ref: string): string[] {
  return ['docker', 'pull', '--quiet', '--', ref];
}

/** What helps where a pull has failed, by what Docker printed. */
export function pullHint(ref: string, evidence: string): string {
  const byHand = `Try it on the server: docker pull ${ref}`;
  if (/manifest unknown|manifest for .* not found|not found: manifest/i.test(evidence))
    return `The registry has no such image or version. ${byHand}`;
  if (/pull access denied|repository does not exist|unauthorized|denied: /i.test(evidence))
    return `The registry does not give this image to the server: it does not exist there, or is not public. ${byHand}`;
  if (/toomanyrequests|rate limit/i.test(evidence))
    return 'The registry gives this server no more images for now. Wait some hours, or log the server in there with docker login.';
  if (/no space left/i.test(evidence))
    return 'The disk of the server is full: `docker system df` shows what takes it.';
  if (/no matching manifest/i.test(evidence))
    return 'The image is not made for the processor of this server.';
  return `See whether the server reaches the registry. ${byHand}`;
}

/** The slashes and colons of a reference stay: Docker takes the rest of the path for its name. */
function pathOf(ref: string): string {
  return ref.split('/').map(encodeURIComponent).join('/');
}
