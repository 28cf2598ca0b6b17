/** Who writes the Dockerfile of an app: by its language, and by the tool that installs it where languages share one. */
import { denoDockerfile } from './deno.ts';
import type { Document } from './document.ts';
import { dotnetDockerfile } from './dotnet.ts';
import { elixirDockerfile } from './elixir.ts';
import { genericDockerfile } from './generic.ts';
import { goDockerfile } from './go.ts';
import { jvmDockerfile } from './jvm.ts';
import { nodeDockerfile } from './node/node.ts';
import { phpDockerfile } from './php.ts';
import { pythonDockerfile } from './python.ts';
import type { Request } from './request.ts';
import { rubyDockerfile } from './ruby.ts';
import { rustDockerfile } from './rust.ts';
import { staticDockerfile } from './static.ts';

/** Writes the stages, and says on which port the app listens. */
export type Writer = (document: Document, request: Request) => number;

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

export function writerFor(request: Request): Writer {
  const { language, framework, packageManager } = request.app;
  if (framework !== null && generators.has(framework)) return staticDockerfile;
  const tool = packageManager?.name ?? '';
  // The language decides first: a PHP app may be installed by Composer and built by npm.
  if (Object.hasOwn(byLanguage, language)) {
    const writer = byLanguage[language];
    if (writer === nodeDockerfile && tool === 'deno') return denoDockerfile;
    if (writer) return writer;
  }
  return (Object.hasOwn(byTool, tool) ? byTool[tool] : undefined) ?? genericDockerfile;
}
