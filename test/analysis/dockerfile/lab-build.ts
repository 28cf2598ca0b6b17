/**
 * Builds generated Dockerfiles on a server of the lab, over SSH. The sources go there as a tar stream and are unpacked
 * before: Docker does not look at .dockerignore when it gets a stream itself.
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pack } from 'tar-stream';
import type { GeneratedBuild } from '../../../src/analysis/dockerfile/generate-dockerfile.ts';
import { builtWhereReachable } from '../../support/built-where-reachable.ts';

export type Files = Readonly<Record<string, string | Buffer>>;

/** What would be in the repository; nothing that a build of ours has left. */
export function filesOf(folder: string): Files {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const isSource = (name: string) => !/(^|\/)(node_modules|dist|\.next)(\/|$)/.test(name);
  const paths = names.filter((name) => isSource(name) && statSync(join(folder, name)).isFile()).sort();
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(folder, path))]));
}

export interface BuildSettings {
  readonly files: Files;
  readonly build: GeneratedBuild;
  readonly tag: string;
  /** For `docker build`; the values are constants of tests. */
  readonly options?: readonly string[];
}

export interface Built {
  readonly seconds: number;
  readonly log: string;
}

/** `ssh`: the arguments that lead to the server. */
export function buildImage(ssh: readonly string[], settings: BuildSettings): Promise<Built> {
  return builtWhereReachable(() => buildOnce(ssh, settings));
}

async function buildOnce(ssh: readonly string[], settings: BuildSettings): Promise<Built> {
  const { files, build, tag, options = [] } = settings;
  const begun = performance.now();
  const docker = ['docker', 'build', '--progress=plain', '--tag', tag, ...options, '"$folder"'].join(' ');
  const command = `folder=$(mktemp -d); tar -xC "$folder"; DOCKER_BUILDKIT=1 ${docker}; code=$?; rm -rf "$folder"; exit $code`;
  const child = spawn('ssh', [...ssh, command], { stdio: ['pipe', 'pipe', 'pipe'] });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
  const tar = pack();
  const sent = { ...files, Dockerfile: build.dockerfile, '.dockerignore': build.dockerignore };
  for (const [name, content] of Object.entries(sent)) tar.entry({ name }, content);
  tar.finalize();
  // A build that fails early closes its input; its exit code says so.
  child.stdin.on('error', () => undefined);
  tar.pipe(child.stdin);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const log = Buffer.concat(chunks).toString('utf8');
  if (code !== 0)
    throw new Error(`docker build ended with ${code}:\n${build.dockerfile}\n${log.slice(-6_000)}`);
  return { seconds: (performance.now() - begun) / 1_000, log };
}
