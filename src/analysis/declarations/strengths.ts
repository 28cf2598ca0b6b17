import type { Declaration, ServiceFinding, VariableFinding } from '../detector.ts';

/** How much a file counts against another one; `declarations.ts` says why. */
export const strengths = {
  platform: 2,
  builder: 1.8,
  procfile: 1.6,
  compose: 0.95,
  dockerfile: 0.9,
  hint: 0.5,
} as const;

/** What a reader of declarations returns, while it is being filled. */
export interface Heard {
  readonly declarations: Declaration[];
  readonly services: ServiceFinding[];
  readonly variables: VariableFinding[];
}

export function nothingHeard(): Heard {
  return { declarations: [], services: [], variables: [] };
}
