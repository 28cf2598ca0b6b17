/**
 * JavaScript and TypeScript: Node, Bun and Deno. Owns what package.json, deno.json, their lock files and the
 * configuration of frameworks tell. Commands are those one types in the folder of the package, members of workspaces
 * included.
 */
import type { Detector, WorkspaceFinder } from '../../detector.ts';
import { denoDetector } from './deno.ts';
import { loneScriptDetector } from './lone-script.ts';
import { nodePackageDetector } from './node-package.ts';
import { nxDetector } from './nx.ts';
import { nodeWorkspaceFinder } from './workspaces.ts';

export const nodeDetectors: readonly Detector[] = [
  nodePackageDetector,
  nxDetector,
  denoDetector,
  loneScriptDetector,
];
export const nodeWorkspaces: readonly WorkspaceFinder[] = [nodeWorkspaceFinder];
