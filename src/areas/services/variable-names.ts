/**
 * Which variables of the application have the URL of which service. The service that was made first keeps its names
 * whatever is added later; each has `<NAME>_URL` and the names of its kind, as far as no earlier one has them.
 */
import type { ServiceKind } from '../../analysis/result.ts';
import { kinds } from './kinds/kinds.ts';

interface Named {
  readonly name: string;
  readonly kind: ServiceKind;
}

/** In the order of their making. One that gets none cannot be reached: that is for the caller to refuse. */
export function variableNames<Service extends Named>(services: readonly Service[]): Map<Service, string[]> {
  const taken = new Set<string>();
  const names = new Map<Service, string[]>();
  for (const service of services) {
    const free = [...new Set([ownName(service), ...kinds[service.kind].variables])].filter(
      (each) => !taken.has(each),
    );
    for (const each of free) taken.add(each);
    names.set(service, free);
  }
  return names;
}

function ownName({ name }: Named): string {
  return `${name.toUpperCase().replaceAll('-', '_')}_URL`;
}
