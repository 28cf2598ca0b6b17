/** All frameworks in the order in which they are asked, and what is known of their programs. */
import { bundlers } from './bundlers.ts';
import type { FrameworkProgram, NodeFramework } from './framework.ts';
import { renderers } from './renderers.ts';
import { servers } from './servers.ts';
import { sites } from './sites.ts';

export const metaFrameworks: readonly NodeFramework[] = [...renderers, ...sites];

export { bundlers, servers };

export const frameworks: readonly NodeFramework[] = [...metaFrameworks, ...servers, ...bundlers];

const programs: ReadonlyMap<string, FrameworkProgram> = new Map(
  frameworks.flatMap((framework) => Object.entries(framework.programs ?? {})),
);

export function frameworkProgram(name: string): FrameworkProgram | undefined {
  return programs.get(name);
}

export function frameworkNamed(name: string | null): NodeFramework | undefined {
  return frameworks.find((each) => each.name === name);
}
