/** Pages as they are, and generators that are a single program with an image of their own. */

import type { Document } from '../document.ts';
import type { Request } from '../request.ts';
import { addWebServer } from '../steps/web-server.ts';
import { plainWords } from '../text/command-line.ts';
import { jsonList, wrong } from '../text/grammar.ts';

interface Generator {
  readonly image: (version: string) => string;
  readonly version: string;
  readonly build: string;
  readonly output: string;
  /** The image has the program and no shell. */
  readonly isBare: boolean;
}

const generators: Readonly<Record<string, Generator>> = {
  hugo: {
    image: (version) => `ghcr.io/gohugoio/hugo:v${version}`,
    version: '0.147.0',
    build: 'hugo --minify',
    output: 'public',
    isBare: false,
  },
  zola: {
    image: (version) => `ghcr.io/getzola/zola:v${version}`,
    version: '0.19.2',
    build: 'zola build',
    output: 'public',
    isBare: true,
  },
};

export function staticDockerfile(document: Document, request: Request): number {
  const generator = generators[request.app.framework ?? ''];
  const { directory = '.', isSinglePage = false } = request.staticOutput ?? {};
  if (generator && Object.hasOwn(generators, request.app.framework ?? '')) {
    const asked = request.versions[request.app.framework ?? ''] ?? '';
    const version = /^\d+\.\d+\.\d+$/.test(asked) ? asked : generator.version;
    const stage = document.stage('build', generator.image(version), 'The generator, in its own image');
    if (!generator.isBare)
      stage.add('USER 0:0', 'Only this stage is root; nothing of it but the pages gets into the image');
    stage.workdir('/app');
    stage.copy([request.source], './');
    stage.arguments('build');
    const command = request.buildCommand ?? generator.build;
    const words = generator.isBare ? plainWords(command) : null;
    if (words) stage.add(`RUN ${jsonList(words)}`, 'This image has no shell');
    else stage.run(command, 'Makes the pages');
    const output = request.staticOutput === null ? generator.output : directory;
    return addWebServer(document, request, { from: 'build', path: `/app/${output}/`, isSinglePage });
  }
  if (request.buildCommand !== null) {
    throw wrong(
      'buildCommand',
      'Nothing says with which tools the pages are made.',
      'Add a Dockerfile, or a manifest that names the tools.',
    );
  }
  if (directory.startsWith('..'))
    throw wrong('staticOutput', 'The folder of the pages is not inside the app.');
  const clean = directory.replace(/^\.\/|\/$/g, '');
  const path = clean === '' || clean === '.' ? request.source : request.project.at(`${clean}/`);
  return addWebServer(document, request, { from: null, path, isSinglePage });
}
