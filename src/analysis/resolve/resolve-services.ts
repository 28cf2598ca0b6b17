/** Which databases are needed, and how sure that is. */
import type { Findings } from '../collect-findings.ts';
import type { ServiceFinding } from '../detector.ts';
import type { FieldEvidence } from '../evidence.ts';
import type { Repository } from '../repository.ts';
import { type NeededService, type ServiceKind, serviceKinds } from '../result.ts';
import { appsOf } from './apps-of.ts';
import { servicesOfVariable } from './service-names.ts';

const weight: Record<ServiceFinding['by'], number> = {
  declared: 4,
  configuration: 3,
  driver: 2,
  variable: 1,
};

export function resolveServices(
  findings: Findings,
  apps: readonly string[],
  repository: Repository,
  evidence: FieldEvidence[],
): NeededService[] {
  const byKind = Map.groupBy(findings.services, ({ kind }) => kind);
  const named = new Set(findings.variables.flatMap(({ key }) => servicesOfVariable(key)));
  dropTwin(byKind);
  const services: NeededService[] = [];
  for (const kind of serviceKinds) {
    const seen = [...(byKind.get(kind) ?? [])].sort((one, other) => weight[other.by] - weight[one.by]);
    const [best] = seen;
    if (!best) continue;
    const by = new Set(seen.map((each) => each.by));
    const isNamed = by.has('variable') || named.has(kind);
    const isNeeded = by.has('declared') || by.has('configuration') || (by.has('driver') && isNamed);
    for (const { source } of seen) evidence.push({ ...source, field: `services[${services.length}]` });
    services.push({
      kind,
      version: seen.find(({ version }) => version !== null)?.version ?? null,
      reason: `${best.source.note} (${best.source.file})`,
      certainty: isNeeded ? 'needed' : 'probable',
      apps: [...new Set(seen.flatMap(({ directory }) => appsOf(directory, apps, repository)))].sort(),
    });
  }
  return services;
}

/** MySQL's driver also speaks to MariaDB: one of the two is meant, and a file that names it decides. */
function dropTwin(byKind: Map<ServiceKind, ServiceFinding[]>): void {
  const [mysql, mariadb] = [byKind.get('mysql'), byKind.get('mariadb')];
  if (!mysql || !mariadb) return;
  const strongest = (all: readonly ServiceFinding[]) => Math.max(...all.map(({ by }) => weight[by]));
  const loser = strongest(mariadb) > strongest(mysql) ? 'mysql' : 'mariadb';
  if (strongest(loser === 'mysql' ? mysql : mariadb) < weight.declared) {
    const winner = loser === 'mysql' ? 'mariadb' : 'mysql';
    byKind.set(winner, [...mysql, ...mariadb]);
    byKind.delete(loser);
  }
}
