/**
 * JavaScript and TypeScript: Node, Bun and Deno. Owns what package.json, deno.json, their lock files and the
 * configuration of frameworks tell. Commands are those one types in the folder of the package, members of workspaces
 * included.
 */
import type { Detector, WorkspaceFinder } from '../../detector.ts';
import { denoDetector } from './deno.ts';
import { loneScriptDetector } from './lone-script.ts';
import { nxDetector } from './nx.ts';
import { packageDetector } from './package-detector.ts';
import { managerOf } from './package-manager/package-manager.ts';
import { workspacesOf, workspaceTool } from './package-manager/workspaces.ts';

export const nodeDetectors: readonly Detector[] = [
  packageDetector,
  nxDetector,
  denoDetector,
  loneScriptDetector,
];

export const nodeWorkspaces: WorkspaceFinder = {
  name: 'node',
  find(repository) {
    return workspacesOf(repository).map(({ root, file, members }) => ({
      kind: /deno\.jsonc?$/.test(file) ? 'deno' : managerOf(repository, root).name,
      tool: workspaceTool(repository, root),
      root,
      members,
      source: { file, note: `workspace of ${members.length}` },
    }));
  },
};
