/** What has to change so that the services are as they are wanted. Pure: rows and inputs in, changes or a refusal out. */

import { serviceSlots } from '../../engine/placement.ts';
import { Fault } from '../../fault.ts';
import { newId, type ServiceId } from '../../ids.ts';
import { kinds } from './kinds/kinds.ts';
import type { NewService, ServiceRow } from './queries.ts';
import type { ServiceInput } from './services-input.ts';
import { variableNames } from './variable-names.ts';

export interface Changes {
  readonly added: readonly NewService[];
  readonly changed: readonly NewService[];
  /** Among them those that have no data to keep. */
  readonly removed: readonly ServiceRow[];
  /** Whether a variable of the application comes, goes, or has another value. */
  readonly doVariablesChange: boolean;
}

export function decideServices(rows: readonly ServiceRow[], inputs: readonly ServiceInput[]): Changes {
  const active = rows.filter(({ removedAt }) => removedAt === null);
  const names = new Set(inputs.map(({ name }) => name));
  const takenSlots = new Set(active.filter(({ name }) => names.has(name)).map(({ slot }) => slot));
  const [added, changed, wanted]: [NewService[], NewService[], NewService[]] = [[], [], []];
  for (const [index, input] of inputs.entries()) {
    const row = active.find(({ name }) => name === input.name);
    if (row && row.kind !== input.kind) throw otherKind(row, input, index);
    const kept = row ?? lastRemoved(rows, input);
    const version = input.version ?? kept?.version ?? '';
    const service: NewService = {
      id: kept?.id ?? newId<ServiceId>(),
      kind: input.kind,
      name: input.name,
      version: version || kinds[input.kind].defaultVersion,
      slot: row?.slot ?? freeSlot(takenSlots),
      memoryMb: input.memoryMb,
      storage: input.storage,
    };
    takenSlots.add(service.slot);
    if (kept) requireReadable(kept, service, index);
    wanted.push(service);
    if (!kept) added.push(service);
    else if (!row || isDifferent(row, service)) changed.push(service);
  }
  requireVariables(wanted);
  const removed = active.filter(({ name }) => !names.has(name));
  return { added, changed, removed, doVariablesChange: namesOf(active) !== namesOf(wanted) };
}

/** A list that merely forgets one must not take a database from an application: who means it names it. */
export function requireConfirmed(
  { removed }: Pick<Changes, 'removed'>,
  inputs: readonly Pick<ServiceInput, 'name'>[],
  remove: readonly string[],
): void {
  const kept = new Set(inputs.map(({ name }) => name));
  const both = remove.findIndex((name) => kept.has(name));
  if (both >= 0) {
    throw new Fault('invalid_input', `It is not clear whether the service ${remove[both]} is to stay.`, {
      errors: [{ path: `remove[${both}]`, message: 'is in `services` too' }],
    });
  }
  const unnamed = removed.filter(({ name }) => !remove.includes(name));
  if (unnamed.length === 0) return;
  const names = unnamed.map(({ name }) => name);
  const which = names.length === 1 ? `the service ${names[0]}` : `the services ${names.join(', ')}`;
  throw new Fault('removal_unconfirmed', `This would remove ${which}, so nothing was changed.`, {
    hint: `Put what is to stay into \`services\` too, or name what is to go: "remove": ${JSON.stringify(names)}. Its data is kept unless \`deleteData\` says otherwise.`,
    errors: unnamed.map(({ name, kind }) => ({
      path: `services.${name}`,
      message: `is there (${kinds[kind].title}), and neither in \`services\` nor in \`remove\``,
    })),
  });
}

/** Its data is taken up again, with the credentials that it knows. */
function lastRemoved(rows: readonly ServiceRow[], { kind, name }: ServiceInput): ServiceRow | undefined {
  return rows.findLast((row) => row.removedAt !== null && row.kind === kind && row.name === name);
}

function freeSlot(taken: ReadonlySet<number>): number {
  for (let slot = serviceSlots.first; slot <= serviceSlots.last; slot += 1) if (!taken.has(slot)) return slot;
  throw new Fault('invalid_input', 'An environment has no room for so many services.');
}

function isDifferent(row: ServiceRow, { version, memoryMb, storage }: NewService): boolean {
  return row.version !== version || row.memoryMb !== memoryMb || row.storage !== storage;
}

function requireReadable(
  { kind, name, dataVersion, removedAt }: ServiceRow,
  to: NewService,
  index: number,
): void {
  if (dataVersion === null) return;
  const change = kinds[kind].change(dataVersion, to.version);
  if (change.isAllowed) return;
  const whose =
    removedAt === null ? `The service ${name}` : `The removed service ${name}, whose data was kept,`;
  throw new Fault('service_version_refused', `${whose} stays at version ${dataVersion}. ${change.why}`, {
    hint:
      removedAt === null
        ? 'Add a second service under another name, move the data over with a dump, and then remove this one.'
        : `Want it with version ${dataVersion}, or under another name, or delete its data first with \`deleteData\`.`,
    errors: [{ path: `services[${index}].version`, message: `must be readable for data of ${dataVersion}` }],
  });
}

function otherKind({ kind, name }: ServiceRow, input: ServiceInput, index: number): Fault {
  const sentence = `The service ${name} is ${kinds[kind].title}, and cannot become ${kinds[input.kind].title}.`;
  return new Fault('service_version_refused', sentence, {
    hint: 'Add the other one under another name, or remove this one first.',
    errors: [{ path: `services[${index}].kind`, message: `is \`${kind}\` under this name already` }],
  });
}

function requireVariables(wanted: readonly NewService[]): void {
  for (const [service, names] of variableNames(byAge(wanted))) {
    if (names.length > 0) continue;
    const path = `services[${wanted.indexOf(service)}].name`;
    throw new Fault('invalid_input', `No variable is left for the URL of the service ${service.name}.`, {
      errors: [{ path, message: 'gives a variable that another service has already; choose another name' }],
    });
  }
}

/** Ids are made in the order of time. */
function byAge<Service extends { readonly id: ServiceId }>(services: readonly Service[]): Service[] {
  return services.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

function namesOf(services: readonly Pick<NewService, 'id' | 'name' | 'kind'>[]): string {
  const named = [...variableNames(byAge(services))];
  return JSON.stringify(named.map(([{ id }, names]) => [id, names]));
}
