/**
 * Issues a certificate and installs it: the servers get what they answer to the authority's challenge, the certificate is
 * ordered and stored with its key sealed, and installed on every server that needs it. Whatever fails, the one before goes
 * on serving, and the next attempt comes by itself, as often as the authority allows.
 */
import { thumbprint } from '../../adapters/acme/acme.ts';
import { nextTry, renewalTime } from '../../adapters/certificates/renewal-time.ts';
import { minute } from '../../clock.ts';
import type { Placement } from '../../engine/placement.ts';
import { Fault } from '../../fault.ts';
import type { CertificateId, WorkspaceId } from '../../ids.ts';
import {
  defineOperation,
  type OperationKind,
  type StateChange,
  type StepContext,
} from '../../operations/definition.ts';
import type { Queryable } from '../../store/database.ts';
import { readEnvironmentState } from '../environments/environment-state.ts';
import { openTarget } from '../environments/placement/open-target.ts';
import { placementsOf } from '../environments/placement/placements.ts';
import { serverRetry } from '../servers/connection/server-retry.ts';
import { accountOf, withAccount } from './authority-account.ts';
import * as queries from './certificate-queries.ts';
import { noticeCertificate, publishCertificateUpdate } from './domain-events.ts';
import { certificateKind, enqueueRouting } from './domain-work.ts';
import { certificateKeyPlace, type DomainsContext } from './domains.ts';
import { installStored } from './installed-certificates.ts';
import * as names from './name-queries.ts';

interface Input {
  readonly certificateId: CertificateId;
}

export function certificateOperation(ctx: DomainsContext): OperationKind {
  return defineOperation<Input>({
    kind: certificateKind,
    readInput: (stored) => {
      const { certificateId } = Object(stored);
      if (typeof certificateId !== 'string') throw new Error('the input names no certificate');
      return { certificateId: certificateId as CertificateId };
    },
    onStateChange: (tx, { workspaceId, input }, change) => follow(tx, ctx, workspaceId, input, change),
    steps: [
      {
        name: 'challenge',
        deadlineMs: 15 * minute,
        retry: serverRetry,
        undo: { none: 'A server that could answer the authority does no harm.' },
        run: async (input, step) => {
          if (!(await needsOrder(ctx, input, step))) return { isOrdered: false };
          const account = await accountOf(ctx, step);
          for (const place of await placementsFor(ctx, step.workspaceId, input.certificateId)) {
            const target = await openTarget(ctx.servers, place, step);
            await target.setChallengeThumbprint(thumbprint(account.key));
          }
          return { isOrdered: true };
        },
      },
      {
        name: 'order',
        deadlineMs: 10 * minute,
        undo: { none: 'A certificate that no server has does no harm.' },
        run: async (input, step) => {
          if (Object(step.outputs.get('challenge')).isOrdered === true) await order(ctx, input, step);
        },
      },
      {
        name: 'install',
        deadlineMs: 15 * minute,
        retry: serverRetry,
        undo: { none: 'The old certificate serves until the new one is installed.' },
        run: async (input, step) => {
          await install(ctx, input, step);
        },
      },
      {
        name: 'route',
        deadlineMs: minute,
        undo: { none: 'Routes follow what is stored.' },
        run: async ({ certificateId }, { workspaceId }) => {
          await ctx.db.transaction(async (tx) => {
            for (const { environmentId } of await names.listOfCertificate(tx, workspaceId, certificateId)) {
              const environment = await readEnvironmentState(tx, workspaceId, environmentId);
              if (environment) await enqueueRouting(tx, ctx, workspaceId, environment);
            }
          });
        },
      },
    ],
  });
}

/** A custom one is only installed; one that is valid for long, or that no name has any more, is not ordered. */
async function needsOrder(
  ctx: DomainsContext,
  { certificateId }: Input,
  { workspaceId }: StepContext,
): Promise<boolean> {
  const row = await queries.findCertificate(ctx.db, workspaceId, certificateId);
  if (!row || row.source === 'custom') return false;
  if ((await placementsFor(ctx, workspaceId, certificateId)).length === 0) return false;
  const { status, notBefore, notAfter } = row;
  if (status !== 'issued' || notAfter === null || notBefore === null) return true;
  // The earliest time that chance could have chosen; seen from its beginning, because what is overdue is put off a little.
  return renewalTime({ notBefore, notAfter, now: notBefore, random: () => 1 }) <= ctx.clock.now();
}

async function order(ctx: DomainsContext, { certificateId }: Input, step: StepContext): Promise<void> {
  const { workspaceId, signal } = step;
  const row = await queries.findCertificate(ctx.db, workspaceId, certificateId);
  const [first, ...others] = row?.names ?? [];
  if (!row || first === undefined) throw new Fault('not_found', 'The certificate does not exist any more.');
  step.log(
    `Ordering a certificate for ${row.names.join(', ')} from ${new URL(ctx.authority.directoryUrl).host}.`,
  );
  const acme = await ctx.authority.acme();
  const issued = await withAccount(ctx, step, (account) =>
    acme.order(account, {
      names: [first, ...others],
      signal,
      preflight: async () => undefined,
      ...(row.chain !== null && { replaces: row.chain }),
    }),
  );
  const { certificate: chain, privateKey, issuer, notBefore, notAfter } = issued;
  const now = ctx.clock.now();
  const renewAt = renewalTime({ notBefore, notAfter, now, random: Math.random });
  await ctx.db.transaction(async (tx) => {
    const keySealed = await ctx.sealer.seal(tx, certificateKeyPlace(workspaceId, certificateId), privateKey);
    const stored = { chain, keySealed, issuer, notBefore, notAfter, renewAt };
    await queries.setCertificateIssued(tx, workspaceId, certificateId, stored, now);
    await publishCertificateUpdate(tx, workspaceId, row, 'issued');
  });
}

async function install(ctx: DomainsContext, { certificateId }: Input, step: StepContext): Promise<void> {
  const { workspaceId } = step;
  const row = await queries.findCertificate(ctx.db, workspaceId, certificateId);
  if (!row || row.chain === null || row.keySealed === null) return;
  const { id, names: all, chain, keySealed } = row;
  for (const where of await placementsFor(ctx, workspaceId, certificateId)) {
    const target = await openTarget(ctx.servers, where, step);
    await installStored(ctx, target, { id, names: all, chain, keySealed });
  }
}

async function placementsFor(
  ctx: DomainsContext,
  workspaceId: WorkspaceId,
  id: CertificateId,
): Promise<Placement[]> {
  const places: Placement[] = [];
  for (const { environmentId } of await names.listOfCertificate(ctx.db, workspaceId, id))
    places.push(...(await placementsOf(ctx.db, workspaceId, environmentId)));
  return places;
}

async function follow(
  tx: Queryable,
  ctx: DomainsContext,
  workspaceId: WorkspaceId,
  { certificateId }: Input,
  change: StateChange,
): Promise<void> {
  const row = await queries.findCertificate(tx, workspaceId, certificateId);
  if (!row) return;
  const now = ctx.clock.now();
  if (change.state === 'succeeded')
    return void (await queries.setCertificateInstalled(
      tx,
      workspaceId,
      certificateId,
      nextRenewal(row, now),
      now,
    ));
  if (change.state !== 'failed' || change.fault === null) return;
  const { fault } = change;
  const { retryAfterSeconds } = fault;
  const renewAt = nextTry({ failures: row.failures + 1, retryAfterSeconds, now, random: Math.random });
  await queries.setCertificateFailed(tx, workspaceId, certificateId, { fault, renewAt }, now);
  const notAfter = row.notAfter?.toISOString();
  if (row.failures === 0)
    await noticeCertificate(tx, workspaceId, row, 'certificate_failing', now.toISOString(), {
      fault,
      notAfter,
    });
  await publishCertificateUpdate(tx, workspaceId, row, 'failed');
}

/** Null for a custom one: its owner renews it. */
function nextRenewal({ source, notBefore, notAfter }: queries.CertificateRow, now: Date): Date | null {
  if (source === 'custom' || notBefore === null || notAfter === null) return null;
  return renewalTime({ notBefore, notAfter, now, random: Math.random });
}
