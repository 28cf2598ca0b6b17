/** Removes a domain, and a name from an environment. */
import { minute } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import type { CertificateId, DomainId, EnvironmentDomainId, EnvironmentId, WorkspaceId } from '../../ids.ts';
import { defineOperation, type OperationKind, type Retry } from '../../operations/definition.ts';
import { enqueueOperation } from '../../operations/operations.ts';
import type { OperationQueue } from '../../operations/queue.ts';
import type { Queryable } from '../../store/database.ts';
import { type EnvironmentState, lockEnvironment } from '../environments/environment-state.ts';
import { openTarget } from '../environments/placement/open-target.ts';
import { placementsOf } from '../environments/placement/placements.ts';
import { publishProjectEvent } from '../projects/projects.ts';
import { findAcmeAccount } from './authority-account.ts';
import * as certificates from './certificate-queries.ts';
import { publishDomainUpdate } from './domain-events.ts';
import { enqueueRouting } from './domain-work.ts';
import { type DomainsContext, domainNotFound } from './domains.ts';
import * as names from './name-queries.ts';
import * as queries from './queries.ts';

const retireKind = 'certificate_retire';

export async function removeDomain(
  ctx: DomainsContext,
  workspaceId: WorkspaceId,
  id: DomainId,
): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    await queries.lockNames(tx);
    const domain = await queries.findDomain(tx, workspaceId, id);
    if (!domain) throw domainNotFound();
    const used = await names.listOfDomain(tx, workspaceId, id);
    if (used.length > 0) {
      throw new Fault('in_use', `${domain.hostname} is still used by environments.`, {
        hint: 'Remove its names there first.',
        errors: used.map(({ environmentId, hostname }) => ({
          path: `environments/${environmentId}`,
          message: `has ${hostname}`,
        })),
      });
    }
    await queries.deleteDomain(tx, workspaceId, id);
    await publishDomainUpdate(tx, workspaceId, {
      domainId: id,
      hostname: domain.hostname,
      reason: 'deleted',
    });
  });
}

export async function disconnectDomain(
  ctx: DomainsContext,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  id: EnvironmentDomainId,
): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    const environment = await lockEnvironment(tx, workspaceId, environmentId);
    const found = (await names.listNames(tx, workspaceId, [environmentId])).find((each) => each.id === id);
    if (!found)
      throw new Fault('not_found', 'The environment has no such domain.', {
        hint: 'GET /environments/:id/domains lists those that it has.',
      });
    await disconnectName(tx, ctx, workspaceId, environment, found);
  });
}

/** In the caller's transaction, last. */
export async function disconnectName(
  tx: Queryable,
  ctx: DomainsContext,
  workspaceId: WorkspaceId,
  environment: EnvironmentState,
  { id, certificateId }: Pick<names.NameRow, 'id' | 'certificateId'>,
): Promise<void> {
  const { id: environmentId, projectId } = environment;
  await names.deleteName(tx, workspaceId, id);
  await retireCertificate(tx, ctx, workspaceId, environment, certificateId);
  if ((await placementsOf(tx, workspaceId, environmentId)).length > 0)
    await enqueueRouting(tx, ctx, workspaceId, environment, { without: certificateId });
  await publishProjectEvent(tx, workspaceId, projectId, { reason: 'domain', environmentId });
}

/** With their environment, which has left its servers: a certificate of an authority is revoked all the same. */
export async function deleteNamesOf(
  tx: Queryable,
  ctx: { readonly queue: OperationQueue },
  workspaceId: WorkspaceId,
  environment: EnvironmentState,
): Promise<void> {
  for (const { id, certificateId } of await names.listNames(tx, workspaceId, [environment.id])) {
    await names.deleteName(tx, workspaceId, id);
    await retireCertificate(tx, ctx, workspaceId, environment, certificateId);
  }
}

/** One that no other name has any more: removed from the server and, where an authority issued it, revoked. */
export async function retireCertificate(
  tx: Queryable,
  ctx: { readonly queue: OperationQueue },
  workspaceId: WorkspaceId,
  { id: environmentId, serverId }: EnvironmentState,
  certificateId: CertificateId | null,
): Promise<void> {
  if (certificateId === null) return;
  if ((await names.listOfCertificate(tx, workspaceId, certificateId)).length > 0) return;
  await enqueueOperation(tx, ctx.queue, {
    workspaceId,
    kind: retireKind,
    input: { certificateId, environmentId },
    queueKey: certificateId,
    subject: { type: 'certificate', id: certificateId },
    ...(serverId !== null && { serverId }),
  });
}

/** About an hour. One that cannot be revoked then expires by itself; its key is gone all the same. */
const revokeRetry: Retry = {
  attempts: 12,
  firstMs: 5_000,
  maxMs: 10 * minute,
  when: (error) =>
    error instanceof Fault && ['acme_unreachable', 'acme_rate_limited', 'acme_nonsense'].includes(error.code),
};

interface RetireInput {
  readonly certificateId: CertificateId;
  readonly environmentId: EnvironmentId;
}

export function retireCertificateOperation(ctx: DomainsContext): OperationKind {
  return defineOperation<RetireInput>({
    kind: retireKind,
    readInput: (stored) => {
      const { certificateId, environmentId } = Object(stored);
      if (typeof certificateId !== 'string' || typeof environmentId !== 'string')
        throw new Error('the input names no certificate');
      return { certificateId: certificateId as CertificateId, environmentId: environmentId as EnvironmentId };
    },
    steps: [
      {
        name: 'uninstall',
        deadlineMs: 15 * minute,
        retry: { attempts: 10, firstMs: 1_000, maxMs: 15_000 },
        undo: { none: 'No name uses it any more.' },
        run: async ({ certificateId, environmentId }, step) => {
          for (const place of await placementsOf(ctx.db, step.workspaceId, environmentId))
            await (await openTarget(ctx.servers, place, step)).removeCertificate(certificateId);
        },
      },
      {
        name: 'revoke',
        deadlineMs: 5 * minute,
        retry: revokeRetry,
        undo: { none: 'What is revoked stays so.' },
        isPostCommit: true,
        run: async ({ certificateId }, step) => {
          await revoke(ctx, step.workspaceId, certificateId, step.signal);
        },
      },
      {
        name: 'forget',
        deadlineMs: minute,
        undo: { none: 'No server has it any more.' },
        isPostCommit: true,
        run: async ({ certificateId }, step) => {
          await certificates.deleteCertificate(ctx.db, step.workspaceId, certificateId);
        },
      },
    ],
  });
}

async function revoke(
  ctx: DomainsContext,
  workspaceId: WorkspaceId,
  id: CertificateId,
  signal: AbortSignal,
): Promise<void> {
  const row = await certificates.findCertificate(ctx.db, workspaceId, id);
  if (row?.source !== 'acme' || row.chain === null) return;
  const account = await findAcmeAccount(ctx, workspaceId);
  if (account) await (await ctx.authority.acme()).revoke(account, row.chain, 'cessation', signal);
}
