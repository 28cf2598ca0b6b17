/**
 * The OpenAPI document, as `npm run generate` wrote it from the routes, and tests hold it against them. To make it here
 * took half a second in which nobody else was served.
 */
import { readFile } from 'node:fs/promises';
import type { HttpServer } from './server.ts';

interface Operation {
  readonly summary: string;
  readonly tags: readonly string[];
}

export interface ApiDocument {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: object;
}

const file = new URL('../../openapi.json', import.meta.url);

/** Without what the settings of this instance have put elsewhere. */
export async function readDocument(server: Pick<HttpServer, 'hasRoute'>): Promise<ApiDocument> {
  const document: ApiDocument = JSON.parse(await readFile(file, 'utf8'));
  const isHere = (path: string, method: string) =>
    server.hasRoute({ method: method.toUpperCase(), url: path.replaceAll(/\{(\w+)\}/g, ':$1') });
  const paths = Object.entries(document.paths).filter(([path, methods]) =>
    Object.keys(methods).every((method) => isHere(path, method)),
  );
  return { ...document, paths: Object.fromEntries(paths) };
}

export interface Tag {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly { readonly call: string; readonly summary: string }[];
}

/** What there is, in the order in which one meets it. */
export function operationsByTag({ tags, paths }: ApiDocument): Tag[] {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([
        method,
        {
          summary,
          tags: [tag],
        },
      ]) => ({
        call: `${method.toUpperCase()} ${path}`,
        summary,
        tag,
      }),
    ),
  );
  return tags.map((tag) => ({ ...tag, operations: all.filter((each) => each.tag === tag.name) }));
}
