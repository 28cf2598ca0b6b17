/**
 * Frameworks that put all they need for running into one folder: only that gets into the image. Which one it is, is seen
 * by what is started (`node .output/server/index.mjs`) rather than by a name, as several frameworks share a server.
 */
import { frameworkNamed } from '../../../ecosystems/node/frameworks/frameworks.ts';
import { join } from '../../../repository.ts';
import type { Request } from '../../request.ts';
import type { NodeProject } from './manifests.ts';

export interface NodeOutput {
  /** From the app's folder in the build → to the app's folder in the image. */
  readonly copies: readonly (readonly [from: string, to: string])[];
  readonly needsModules: boolean;
  /** Where it is not what the repository says. */
  readonly start: string | null;
  readonly why: string;
}

export function nodeOutput(request: Request, project: NodeProject, start: string): NodeOutput | null {
  const { framework } = request.app;
  if (framework === 'next' && isStandalone(request) && /^next start\b/.test(start))
    return nextStandalone(request, project);
  const nitro = /^node (?:\S+ )*\.?\/?(\.output)\/server\/index\.mjs$/.exec(start)?.[1];
  if (nitro !== undefined) {
    return {
      copies: [[nitro, nitro]],
      needsModules: false,
      start: null,
      why: 'Nitro puts the server and all it needs into .output',
    };
  }
  const folder = /^(?:node|remix-serve|react-router-serve) (?:\.\/)?(build|dist)(?:\/\S*)?$/.exec(start)?.[1];
  const runsFrom = frameworkNamed(framework)?.runsFrom;
  if (folder === undefined || runsFrom === undefined) return null;
  const files = request.files.directory(request.directory);
  const copies: [string, string][] = [
    ['package.json', 'package.json'],
    [folder, folder],
  ];
  if (files?.folders.has('public') && runsFrom.withPublic) copies.push(['public', 'public']);
  return {
    copies,
    needsModules: true,
    start: null,
    why: `${framework} puts its server and pages into ${folder}`,
  };
}

/** Next.js finds the pieces of a workspace by their place, so the standalone server lies as deep as the app does. */
function nextStandalone(request: Request, project: NodeProject): NodeOutput {
  const place = (name: string) => (project.inside === '' ? name : join(project.inside, name));
  const copies: [string, string][] = [
    ['.next/standalone', ''],
    ['.next/static', place('.next/static')],
  ];
  if (request.files.directory(request.directory)?.folders.has('public'))
    copies.push(['public', place('public')]);
  return {
    copies,
    needsModules: false,
    start: `node ${place('server.js')}`,
    why: 'Next.js is set to standalone output: its own server with only the modules it uses',
  };
}

function isStandalone(request: Request): boolean {
  const config = request.files.firstOf(request.directory, [
    'next.config.ts',
    'next.config.mjs',
    'next.config.js',
    'next.config.mts',
  ]);
  const found = config === undefined ? undefined : request.files.text(config);
  return found !== undefined && /\boutput\s*:\s*["'`]standalone["'`]/.test(found.replaceAll(/\/\/.*$/gm, ''));
}
