/**
 * A Dockerfile for an app that has none. Owns the text: stages, base images, caches, the user, the health check; and
 * why each is there, for the person who reads it. Pure. The whole repository is what is sent to be built. Refuses to
 * write a value it cannot place safely (`grammar.ts`), and to guess a command that nothing says.
 */
import { standardLimits } from '../limits.ts';
import { Repository } from '../repository.ts';
import type { App, Monorepo } from '../result.ts';
import type { FileTree } from '../tree.ts';
import { dockerignoreOf } from './dockerignore.ts';
import { Document, type Explanation } from './document.ts';
import { filesToRead } from './files-to-read.ts';
import { denoDockerfile } from './languages/deno.ts';
import { dotnetDockerfile } from './languages/dotnet.ts';
import { elixirDockerfile } from './languages/elixir.ts';
import { goDockerfile } from './languages/go.ts';
import { jvmDockerfile } from './languages/jvm.ts';
import { nodeDockerfile } from './languages/node/node.ts';
import { otherDockerfile } from './languages/other.ts';
import { phpDockerfile } from './languages/php.ts';
import { pythonDockerfile } from './languages/python.ts';
import { rubyDockerfile } from './languages/ruby.ts';
import { rustDockerfile } from './languages/rust.ts';
import { staticDockerfile } from './languages/static.ts';
import { type GenerateOptions, type Request, requestOf } from './request.ts';

export { secretsVersionArgument } from './document.ts';
export type { BuildVariable, GenerateOptions, Overrides } from './request.ts';
export { filesToRead };

export interface GeneratedBuild {
  readonly dockerfile: string;
  readonly dockerignore: string;
  /** Where the app listens; also the image's `PORT`. */
  readonly port: number;
  readonly explanation: readonly Explanation[];
}

/** Throws a Fault that says what is missing where there is no way to build the app. */
export function generateDockerfile(
  app: App,
  monorepo: Monorepo | null,
  options: GenerateOptions,
): GeneratedBuild {
  const request = requestOf(app, monorepo, options);
  const document = new Document(request);
  const port = writerFor(request)(document, request);
  const { text, explanation } = document.render();
  return { dockerfile: text, dockerignore: dockerignoreOf(request), port, explanation };
}

export interface BuildOrder extends Omit<GenerateOptions, 'files'> {
  readonly app: App;
  readonly monorepo: Monorepo | null;
}

/** The same, from the files of a commit. */
export async function dockerfileFor(
  tree: FileTree,
  { app, monorepo, ...options }: BuildOrder,
  signal: AbortSignal,
): Promise<GeneratedBuild> {
  const { entries } = await tree.list(standardLimits.entries, signal);
  const files = new Repository(entries, await tree.read(filesToRead(entries), signal));
  return generateDockerfile(app, monorepo, { ...options, files });
}

/** Writes the stages, and says on which port the app listens. */
type Writer = (document: Document, request: Request) => number;

const byTool: Readonly<Record<string, Writer>> = {
  npm: nodeDockerfile,
  pnpm: nodeDockerfile,
  yarn: nodeDockerfile,
  bun: nodeDockerfile,
  deno: denoDockerfile,
  pip: pythonDockerfile,
  uv: pythonDockerfile,
  poetry: pythonDockerfile,
  pdm: pythonDockerfile,
  pipenv: pythonDockerfile,
  go: goDockerfile,
  cargo: rustDockerfile,
  maven: jvmDockerfile,
  gradle: jvmDockerfile,
  composer: phpDockerfile,
  bundler: rubyDockerfile,
  nuget: dotnetDockerfile,
  mix: elixirDockerfile,
};

const byLanguage: Readonly<Record<string, Writer>> = {
  javascript: nodeDockerfile,
  typescript: nodeDockerfile,
  python: pythonDockerfile,
  go: goDockerfile,
  rust: rustDockerfile,
  php: phpDockerfile,
  ruby: rubyDockerfile,
  csharp: dotnetDockerfile,
  fsharp: dotnetDockerfile,
  elixir: elixirDockerfile,
  html: staticDockerfile,
};

const generators = new Set(['hugo', 'zola']);

function writerFor(request: Request): Writer {
  const { language, framework, packageManager } = request.app;
  if (framework !== null && generators.has(framework)) return staticDockerfile;
  const tool = packageManager?.name ?? '';
  // The language decides first: a PHP app may be installed by Composer and built by npm.
  if (Object.hasOwn(byLanguage, language)) {
    const writer = byLanguage[language];
    if (writer === nodeDockerfile && tool === 'deno') return denoDockerfile;
    if (writer) return writer;
  }
  return (Object.hasOwn(byTool, tool) ? byTool[tool] : undefined) ?? otherDockerfile;
}
