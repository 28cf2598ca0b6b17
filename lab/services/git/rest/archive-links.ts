/** Addresses that give an archive to whoever has them, for five minutes: what a redirect of GitHub's leads to. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Registry } from '../registry.ts';
import { writeArchive } from '../repository/archive.ts';
import type { Repositories } from '../repository/repositories.ts';
import type { Repository } from '../state.ts';

const lifeMs = 300_000;
export const archivePrefix = '/_codeload/';

export class ArchiveLinks {
  readonly #key = randomBytes(32);

  pathFor({ owner, name }: Repository, commit: string): string {
    const path = `${archivePrefix}${owner}/${name}/legacy.tar.gz/${commit}`;
    const until = String(Date.now() + lifeMs);
    return `${path}?until=${until}&token=${this.#sign(path, until).toString('hex')}`;
  }

  allows(url: URL): boolean {
    const until = url.searchParams.get('until') ?? '';
    const given = Buffer.from(url.searchParams.get('token') ?? '', 'hex');
    const right = this.#sign(url.pathname, until);
    return given.length === right.length && timingSafeEqual(given, right) && Number(until) > Date.now();
  }

  #sign(path: string, until: string): Buffer {
    return createHmac('sha256', this.#key).update(`${path}\n${until}`).digest();
  }
}

export async function serveArchive(
  host: { registry: Registry; repositories: Repositories; archives: ArchiveLinks },
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = /^([^/]+)\/([^/]+)\/legacy\.tar\.gz\/([0-9a-f]{40})$/;
  const [, owner = '', name = '', commit = ''] = path.exec(url.pathname.slice(archivePrefix.length)) ?? [];
  const repository = host.registry.repository(owner, name);
  if (request.method !== 'GET' || !repository || !host.archives.allows(url)) {
    response.writeHead(404, { 'Content-Type': 'text/plain; charset=utf-8' });
    response.end('404: Not Found\n');
    return;
  }
  // An archive applies the filters of a configuration, and those are programs.
  host.repositories.resetConfiguration(repository);
  const folder = `${repository.owner}-${repository.name}-${commit.slice(0, 7)}`;
  response.writeHead(200, {
    'Content-Type': 'application/x-gzip',
    'Content-Disposition': `attachment; filename=${folder}.tar.gz`,
  });
  await writeArchive(host.repositories.of(repository), commit, folder, response);
}
