/** Whether what a host calls its publish folder is really served as files, or read by a server of the framework. */
import { chooseFramework } from '../../ecosystems/node/frameworks/choose-framework.ts';
import { renderingOf } from '../../ecosystems/node/frameworks/rendering.ts';
import { NodePackage } from '../../ecosystems/node/node-package.ts';
import { Project } from '../../project.ts';
import type { Repository } from '../../repository.ts';
import { type DeclarationFile, folderIn } from '../declaration-file.ts';

/** What builds put there is for a server, or for the host's own; a browser could do nothing with it. */
const serverFolders = [
  '.next',
  '.nuxt',
  '.svelte-kit',
  '.vercel',
  '.netlify',
  '.amplify-hosting',
  // Of Nitro all but what lies in `public`.
  '.output',
  // Both halves of a build for a server: pages are made when they are asked for.
  'build/server',
  'build/client',
  'dist/server',
  'dist/client',
  // Scripts of Remix before Vite, which the server's pages name.
  'public/build',
];
const servedInside = '.output/public';

/** What a host calls its output, where it is files that a browser gets. */
export function servedOutput(
  { repository, directory: own }: DeclarationFile,
  value: unknown,
  { directory = own, under = '' } = {},
): string | undefined {
  const output = folderIn(value, under);
  return output !== undefined && isServedAsFiles(repository, directory, output) ? output : undefined;
}

function isServedAsFiles(repository: Repository, directory: string, output: string): boolean {
  const isIn = (folder: string) => output === folder || output.startsWith(`${folder}/`);
  const package_ = NodePackage.in(new Project(repository, directory));
  const framework = package_ && chooseFramework(package_);
  const rendering = framework && renderingOf(package_, framework);
  if (rendering?.kind === 'static' && isIn(rendering.output.value.directory)) return true;
  if (serverFolders.some(isIn) && !isIn(servedInside)) return false;
  if (rendering?.kind !== 'server') return true;
  return framework?.exports?.includes(output) === true;
}
