import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fault } from '../../fault.ts';
import { type EnvironmentId, newId, type ServerId, type ServiceId } from '../../ids.ts';
import type { WantedService } from '../environments/hooks.ts';
import { type Changes, decideServices } from './decide-services.ts';
import { fittingVersion, kinds } from './kinds/kinds.ts';
import type { ServiceRow } from './queries.ts';
import { readServicesInput } from './services-input.ts';
import { variableNames } from './variable-names.ts';

const decide = (rows: readonly ServiceRow[], wanted: readonly WantedService[]): Changes =>
  decideServices(rows, readServicesInput(wanted));

function row(wanted: WantedService, more: Partial<ServiceRow> = {}): ServiceRow {
  const [service] = decide([], [wanted]).added;
  assert.ok(service);
  return {
    ...service,
    environmentId: newId<EnvironmentId>(),
    dataVersion: service.version,
    credentialsSealed: null,
    serverId: newId<ServerId>(),
    status: 'running',
    problem: null,
    createdAt: new Date(0),
    updatedAt: new Date(0),
    removedAt: null,
    id: newId<ServiceId>(),
    ...more,
  };
}

const refused = (code: string, says: RegExp) => (error: unknown) =>
  error instanceof Fault &&
  error.code === code &&
  says.test(`${error.message} ${JSON.stringify(error.errors)}`) &&
  (code === 'invalid_input' || error.hint !== undefined);

test('what is not said is ours to say: name, version, and the lowest free address', () => {
  const { added } = decide([], [{ kind: 'postgres' }, { kind: 'redis', name: 'cache', version: '7.4' }]);
  assert.deepEqual(
    added.map(({ kind, name, version, slot }) => [kind, name, version, slot]),
    [
      ['postgres', 'postgres', kinds.postgres.defaultVersion, 2],
      ['redis', 'cache', '7.4', 3],
    ],
  );
  for (const { versions, defaultVersion } of Object.values(kinds))
    assert.ok(versions.includes(defaultVersion));
});

test('a input that cannot be fulfilled names the field', () => {
  const wrong: [WantedService[], RegExp][] = [
    [[{ kind: 'redis' }, { kind: 'redis' }], /services\[1\]\.name/],
    [
      [
        { kind: 'redis', name: 'a' },
        { kind: 'postgres', name: 'a' },
      ],
      /services\[1\]\.name/,
    ],
    [[{ kind: 'redis', name: 'web' }], /services\[0\]\.name/],
    [[{ kind: 'postgres', version: '9' }], /services\[0\]\.version.*14, 15/],
    [[{ kind: 'mysql', memoryMb: 64 }], /services\[0\]\.memoryMb/],
    [[{ kind: 'postgres', name: 'main' }, { kind: 'postgres' }], /services\[1\]\.name/],
  ];
  for (const [wanted, says] of wrong)
    assert.throws(() => decide([], wanted), refused('invalid_input', says), says.source);
});

test('a version that could not read the data is refused, and one that can is taken', () => {
  const cases: [WantedService['kind'], string, string, boolean][] = [
    ['postgres', '17', '18', false],
    ['postgres', '17', '16', false],
    ['postgres', '17', '17', true],
    ['mariadb', '10.11', '11.8', true],
    ['mariadb', '11.8', '10.11', false],
    ['redis', '8.0', '8', true],
    ['redis', '8', '7.4', false],
    ['mysql', '8.0', '8.4', true],
    ['mysql', '8.4', '8.0', false],
    ['mongodb', '6.0', '7.0', true],
    ['mongodb', '6.0', '8.0', false],
    ['mongodb', '7.0', '6.0', false],
  ];
  for (const [kind, from, to, isAllowed] of cases) {
    const change = () => decide([row({ kind, version: from })], [{ kind, version: to }]);
    if (isAllowed) assert.equal(change().changed.length, from === to ? 0 : 1, `${kind} ${from} → ${to}`);
    else
      assert.throws(
        change,
        refused('service_version_refused', /stays at version/),
        `${kind} ${from} → ${to}`,
      );
    const unstarted = [row({ kind, version: from }, { dataVersion: null })];
    assert.doesNotThrow(() => decide(unstarted, [{ kind, version: to }]), 'no data, no harm');
  }
});

test('the kind does not change under a name', () => {
  const rows = [row({ kind: 'mysql', name: 'main' })];
  assert.throws(
    () => decide(rows, [{ kind: 'postgres', name: 'main' }]),
    refused('service_version_refused', /cannot become/),
  );
});

test('a service that is left alone keeps its version when ours moves on, and needs no change', () => {
  const kept = row({ kind: 'postgres', version: '15' });
  const { added, changed, removed, doVariablesChange } = decide([kept], [{ kind: 'postgres' }]);
  assert.deepEqual([added, changed, removed, doVariablesChange], [[], [], [], false]);
  const larger = decide([kept], [{ kind: 'postgres', memoryMb: 1024 }]);
  assert.deepEqual([larger.changed.length, larger.doVariablesChange], [1, false]);
});

test('a removed one is taken up again by its kind and name, at a free address', () => {
  const old = row({ kind: 'redis' }, { removedAt: new Date(1) });
  const other = row({ kind: 'postgres' }, { slot: old.slot });
  const { added, changed, doVariablesChange } = decide(
    [old, other],
    [{ kind: 'postgres' }, { kind: 'redis' }],
  );
  assert.deepEqual([added.length, changed[0]?.id, doVariablesChange], [0, old.id, true]);
  assert.notEqual(changed[0]?.slot, other.slot);
  assert.throws(
    () => decide([old], [{ kind: 'redis', version: '7.2' }]),
    refused('service_version_refused', /removed service redis/),
  );
  const fresh = decide([old], [{ kind: 'mariadb', name: 'redis' }]);
  assert.notEqual(fresh.added[0]?.id, old.id, 'data of another kind is left alone');
});

test('the first service keeps the variables that it has, whatever comes later', () => {
  const first = { kind: 'postgres', name: 'main-db' } as const;
  const names = (services: (typeof first | { kind: 'redis' | 'postgres'; name: string })[]) => [
    ...variableNames(services).values(),
  ];
  assert.deepEqual(names([first]), [['MAIN_DB_URL', 'DATABASE_URL', 'POSTGRES_URL']]);
  assert.deepEqual(
    names([first, { kind: 'redis', name: 'database' }, { kind: 'postgres', name: 'second' }]),
    [['MAIN_DB_URL', 'DATABASE_URL', 'POSTGRES_URL'], ['REDIS_URL'], ['SECOND_URL']],
  );
});

test('a version that a repository names becomes one that we run', () => {
  assert.equal(fittingVersion('postgres', '17.2'), '17');
  assert.equal(fittingVersion('mariadb', '10.6.18'), '10.6');
  assert.equal(fittingVersion('mariadb', '11'), '11.8');
  assert.equal(fittingVersion('redis', '7'), '7.4');
  assert.equal(fittingVersion('postgres', '9.6'), undefined);
  assert.equal(fittingVersion('postgres', null), undefined);
});
