/**
 * A Dockerfile for an app that has none. Owns the text: stages, base images, caches, the user, the health check; and
 * why each is there, for the person who reads it. Pure. The whole repository is what is sent to be built. Refuses to
 * write a value it cannot place safely (`grammar.ts`), and to guess a command that nobody told.
 */
import type { App, Monorepo } from '../result.ts';
import { dockerignoreOf } from './dockerignore.ts';
import { Document, type Explanation } from './document.ts';
import { writerFor } from './ecosystems.ts';
import { type GenerateOptions, requestOf } from './request.ts';

export { secretsVersionArgument } from './build-steps.ts';
export { filesToRead } from './files-to-read.ts';
export type { BuildVariable, GenerateOptions, Overrides } from './request.ts';

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
  const document = new Document();
  const port = writerFor(request)(document, request);
  const { text, explanation } = document.render();
  return { dockerfile: text, dockerignore: dockerignoreOf(request), port, explanation };
}
