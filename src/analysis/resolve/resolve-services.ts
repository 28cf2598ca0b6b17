/** Which databases are needed, and how sure that is. */
import type { Findings } from '../collect-findings.ts';
import type { ServiceFinding } from '../detector.ts';
import type { FieldEvidence } from '../evidence.ts';
import type { Repository } from '../repository.ts';
import { type NeededService, type ServiceKind, serviceKinds } from '../result.ts';
import { appsOf } from './apps-of.ts';
import { anyDatabase, servicesOfVariable } from './service-names.ts';

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
  dropTwin(byKind);
  const places = (directory: string) => appsOf(directory, apps, repository);
  const named = namedIn(findings, places);
  const services: NeededService[] = [];
  for (const kind of serviceKinds) {
    const seen = [...(byKind.get(kind) ?? [])].sort((one, other) => weight[other.by] - weight[one.by]);
    const [best] = seen;
    if (!best) continue;
    const by = new Set(seen.map((each) => each.by));
    const users = [...new Set(seen.flatMap(({ directory }) => places(directory)))].sort();
    const isNamed = by.has('variable') || users.some((app) => named.has(`${app} ${kind}`));
    const isNeeded = by.has('declared') || by.has('configuration') || (by.has('driver') && isNamed);
    for (const { source } of seen) evidence.push({ ...source, field: `services[${services.length}]` });
    services.push({
      kind,
      version: seen.find(({ version }) => version !== null)?.version ?? null,
      reason: `${best.source.note} (${best.source.file})`,
      certainty: isNeeded ? 'needed' : 'probable',
      apps: users,
    });
  }
  return services;
}

type Places = (directory: string) => readonly string[];

/**
 * Which services the variables of each app name, as `app kind`. `DATABASE_URL` may be the address of any database, but
 * it is that of one: where a configuration or an address names that, it says nothing for another driver.
 */
function namedIn(findings: Findings, places: Places): ReadonlySet<string> {
  const chosen = new Map<string, Set<ServiceKind>>();
  for (const { kind, by, directory } of findings.services) {
    if (by === 'driver' || !anyDatabase.includes(kind)) continue;
    for (const app of places(directory)) chosen.set(app, (chosen.get(app) ?? new Set()).add(kind));
  }
  const named = new Set<string>();
  for (const { key, directory } of findings.variables) {
    const kinds = servicesOfVariable(key);
    for (const app of kinds.length === 0 ? [] : places(directory)) {
      const only = kinds === anyDatabase ? chosen.get(app) : undefined;
      for (const kind of kinds) if (!only || only.has(kind)) named.add(`${app} ${kind}`);
    }
  }
  return named;
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
