/** Volumes: what outlives a container. Nothing here removes one on the side. */
import type { Call, Reply } from './docker.ts';
import { fieldsOf, labelFilter, listOf, textOf, textsOf } from './json.ts';

export interface ListedVolume {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** The same answer where it is there already. */
export function createVolume(name: string, labels: Readonly<Record<string, string>>): Call {
  return {
    method: 'POST',
    path: '/volumes/create',
    body: { Name: name, Driver: 'local', Labels: labels },
    ok: [201],
  };
}

/** With all that is in it; refused while a container has it. */
export function removeVolume(name: string): Call {
  return { method: 'DELETE', path: `/volumes/${encodeURIComponent(name)}`, ok: [204, 404] };
}

export function listVolumes(labels: Readonly<Record<string, string>>): Call {
  return { method: 'GET', path: `/volumes?filters=${labelFilter(labels)}`, ok: [200] };
}

export function readVolumes({ body }: Reply): ListedVolume[] {
  return listOf(fieldsOf(body).Volumes).map((each) => ({
    name: textOf(fieldsOf(each).Name),
    labels: textsOf(fieldsOf(each).Labels),
  }));
}
