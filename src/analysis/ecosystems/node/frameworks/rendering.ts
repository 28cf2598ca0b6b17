/** What comes out of a framework's build: files for a browser, and where they lie, or a server. */
import type { NodePackage } from '../node-package.ts';
import type { NodeFramework, Rendering } from './framework.ts';
import { staticFolder } from './static-folder.ts';

export function renderingOf(package_: NodePackage, framework: NodeFramework): Rendering {
  const { kind, rendering, configs = [] } = framework;
  if (kind === 'server') return { kind };
  const file = package_.first(...configs);
  const config = file === undefined ? undefined : package_.repository.source(file)?.config;
  const decided = rendering?.(package_, config, file ?? package_.manifest.file) ?? 'static';
  if (typeof decided === 'object') return decided;
  if (decided === 'server') return { kind: 'server' };
  return { kind: 'static', output: staticFolder(package_, framework, config, file) };
}
