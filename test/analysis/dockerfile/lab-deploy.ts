/** From the files of a repository to a container on a server of the lab, and what is asked of it there. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { root } from '../../../scripts/commands.ts';
import { analyse } from '../../../src/analysis/analysis.ts';
import {
  type GeneratedBuild,
  type GenerateOptions,
  generateDockerfile,
} from '../../../src/analysis/dockerfile/generate-dockerfile.ts';
import { MemoryTree } from '../../../src/analysis/tree.ts';
import type { TestServer } from '../../support/lab.ts';
import { hangMs, until } from '../../support/until.ts';
import { repositoryOf } from './cases.ts';
import { buildImage, type Files, filesOf } from './lab-build.ts';

interface Wanted {
  readonly name: string;
  readonly files?: Files;
  /** The app's folder, where the repository has several. */
  readonly path?: string;
  readonly variables?: GenerateOptions['buildVariables'];
  /** Further options of `docker build`. */
  readonly options?: readonly string[];
}

interface Running {
  readonly url: string;
  readonly build: GeneratedBuild;
  readonly log: string;
}

export const appFiles = (name: string) => filesOf(join(root, 'lab/apps', name));

/** From the files of a repository to a container that answers; nothing is told that the analysis does not find. */
export async function deploy(t: TestContext, server: TestServer, wanted: Wanted): Promise<Running> {
  const { name, files = appFiles(name), path = '.', variables = [] } = wanted;
  const { apps, monorepo } = await analyse(new MemoryTree(files), { signal: AbortSignal.timeout(hangMs) });
  const app = apps.find((each) => each.path === path);
  assert.ok(app, `there is no app at ${path}`);
  const texts = Object.fromEntries(
    Object.entries(files).map(([each, content]) => [each, content.toString()]),
  );
  const options = { buildVariables: variables, files: repositoryOf(texts), cacheScope: 'lab' };
  const build = generateDockerfile(app, monorepo, options);
  const ssh = server.sshArguments;
  const { seconds, log } = await buildImage(ssh, { files, build, tag: name, options: wanted.options ?? [] });
  const container = `docker run --detach --name ${name} --publish 0:${build.port} --health-interval 1s ${name}`;
  await server.ssh(container);
  t.after(() => server.trySsh(`docker rm --force ${name}`));
  const port = (await server.ssh(`docker port ${name} ${build.port}`))
    .trim()
    .split('\n')[0]
    ?.split(':')
    .at(-1);
  const url = `http://${server.about.address}:${port}`;
  const ask = async () => (await fetch(`${url}/`).catch(() => undefined))?.ok;
  await until(ask, `${name} to answer`).catch(async (error) => {
    const { stdout, stderr } = await server.trySsh(`docker logs ${name}`);
    throw new Error(`${error.message}\n${stdout}${stderr}`);
  });
  await isUnprivileged(server, name);
  const size = Number(await server.ssh(`docker image inspect --format '{{.Size}}' ${name}`));
  t.diagnostic(`${name}: ${(size / 1e6).toFixed(0)} MB, built in ${seconds.toFixed(0)} s`);
  return { url, build, log };
}

/** By the kernel: no process of the container is root. */
async function isUnprivileged(server: TestServer, name: string): Promise<void> {
  const lines = (await server.ssh(`docker top ${name} -eo pid,uid`)).trim().split('\n').slice(1);
  const users = lines.map((line) => line.trim().split(/\s+/)[1]);
  assert.ok(users.length > 0 && users.every((user) => Number(user) > 0), `${name} runs as ${users}`);
}

/** Docker's own view, from the HEALTHCHECK of the image. */
export async function isHealthy(server: TestServer, name: string): Promise<void> {
  const ask = async () =>
    (await server.ssh(`docker inspect --format '{{.State.Health.Status}}' ${name}`)).trim();
  await until(async () => (await ask()) === 'healthy', `${name} to be healthy`);
}

export async function endsOnSigterm(
  server: TestServer,
  name: string,
  codes: readonly number[],
): Promise<void> {
  // One that had to be killed in the end would tell that: 137 is in nobody's list.
  await server.ssh(`docker stop --time ${hangMs / 1000} ${name}`);
  const code = Number(await server.ssh(`docker inspect --format '{{.State.ExitCode}}' ${name}`));
  assert.ok(codes.includes(code), `it ended with ${code}`);
}
