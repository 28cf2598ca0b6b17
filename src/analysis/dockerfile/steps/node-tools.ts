/** Node beside another language: its programs come from its image, and what package.json names is installed. */

import { installWith } from '../../ecosystems/node/package-manager/manager-commands.ts';
import type { Stage } from '../document.ts';
import type { Request } from '../request.ts';
import { defaultVersions, imageVersionOf } from './base-images.ts';

const npm = { id: 'npm', target: '/root/.npm' };

/** Whether an app of another language is also built by tools of package.json. */
export function needsNodeTools(request: Request): boolean {
  if (!request.project.files.has('package.json')) return false;
  const commands = `${request.installCommand ?? ''} ${request.buildCommand ?? ''}`;
  return /\b(npm|npx|pnpm|yarn|bun|node)\b/.test(commands) || request.app.framework === 'rails';
}

export function addNodeTools(stage: Stage, request: Request): void {
  const image = `node:${imageVersionOf(request, 'node').version || defaultVersions.node}-slim`;
  const modules = '/usr/local/lib/node_modules/';
  const why = 'A part of this app is built by JavaScript tools';
  stage.copy(['/usr/local/bin/node'], '/usr/local/bin/', why, [`--from=${image}`]);
  stage.copy([modules], modules, undefined, [`--from=${image}`]);
  const link = (name: string) => `ln -s ../lib/node_modules/npm/bin/${name}-cli.js /usr/local/bin/${name}`;
  stage.add(`RUN ${link('npm')} && ${link('npx')}`);
  const names = request.project.files;
  const files = ['package.json', 'package-lock.json', 'yarn.lock', 'pnpm-lock.yaml', '.npmrc'];
  const found = files.filter((name) => names.has(name)).map((name) => request.project.at(name));
  stage.copy(found, './');
  stage.run(nodeToolsInstall(names), 'JavaScript tools, by their lock file', [npm]);
}

export function nodeToolsInstall(names: ReadonlySet<string>): string {
  if (names.has('pnpm-lock.yaml')) return `npm install --global pnpm && ${installWith('pnpm', true)}`;
  // Not by the lock file alone: it may be one that only a later Yarn reads.
  if (names.has('yarn.lock')) return `npm install --global yarn && ${installWith('yarn', false)}`;
  return installWith('npm', names.has('package-lock.json'));
}
