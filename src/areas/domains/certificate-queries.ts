/** The SQL of certificates and of our ACME accounts, always by workspace. */
import type { AcmeAccountId, CertificateId, EnvironmentId, WorkspaceId } from '../../ids.ts';
import type { OperationFault } from '../../operations/operations.ts';
import type { Queryable } from '../../store/database.ts';
import { type Due, fragment, sql, takeDue } from '../../store/sql.ts';
import type { CertificateStatus } from './name-queries.ts';

export interface CertificateRow {
  readonly id: CertificateId;
  readonly source: 'acme' | 'custom';
  readonly names: readonly string[];
  readonly status: CertificateStatus;
  readonly chain: string | null;
  readonly keySealed: Buffer | null;
  readonly notBefore: Date | null;
  readonly notAfter: Date | null;
  readonly failures: number;
  readonly fault: OperationFault | null;
}

export function findCertificate(db: Queryable, workspaceId: WorkspaceId, id: CertificateId) {
  return db.one<CertificateRow>(sql`
    select id, source, names, status, chain, key_sealed as "keySealed", not_before as "notBefore",
      not_after as "notAfter", failures, fault
    from certificates where workspace_id = ${workspaceId} and id = ${id}`);
}

export function insertCertificate(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { id, source, names }: Pick<CertificateRow, 'id' | 'source' | 'names'>,
  now: Date,
) {
  return tx.run(sql`
    insert into certificates (workspace_id, id, source, names, status, renew_at, created_at, updated_at)
    values (${workspaceId}, ${id}, ${source}, ${names}, 'pending', ${source === 'acme' ? now : null}, ${now}, ${now})`);
}

/** For other names or from another source. The old certificate serves until the new one is there. */
export function changeCertificate(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: CertificateId,
  { source, names }: Pick<CertificateRow, 'source' | 'names'>,
  now: Date,
) {
  return tx.run(sql`
    update certificates set source = ${source}, names = ${names}, status = 'pending', fault = null, failures = 0,
      renew_at = ${source === 'acme' ? now : null}, updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

/** Those of an environment that can be installed. */
export function listInstallable(db: Queryable, workspaceId: WorkspaceId, environmentId: EnvironmentId) {
  return db.rows<{ id: CertificateId; names: readonly string[]; chain: string; keySealed: Buffer }>(sql`
    select c.id, c.names, c.chain, c.key_sealed as "keySealed" from certificates c
    where c.workspace_id = ${workspaceId} and c.chain is not null and c.key_sealed is not null
      and c.id in (select certificate_id from environment_domains
                   where workspace_id = ${workspaceId} and environment_id = ${environmentId})
    order by c.id`);
}

/** Which of these environments have one that can be installed. */
export function listCertified(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentIds: readonly EnvironmentId[],
) {
  return db.rows<{ environmentId: EnvironmentId }>(sql`
    select distinct d.environment_id as "environmentId" from environment_domains d
    join certificates c on c.workspace_id = d.workspace_id and c.id = d.certificate_id
    where d.workspace_id = ${workspaceId} and d.environment_id = any(${environmentIds}::uuid[])
      and c.chain is not null and c.key_sealed is not null`);
}

export interface IssuedCertificate {
  readonly chain: string;
  readonly keySealed: Buffer;
  readonly issuer: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly renewAt: Date | null;
}

export function setCertificateIssued(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: CertificateId,
  { chain, keySealed, issuer, notBefore, notAfter, renewAt }: IssuedCertificate,
  now: Date,
) {
  return tx.run(sql`
    update certificates set status = 'issued', chain = ${chain}, key_sealed = ${keySealed}, issuer = ${issuer},
      not_before = ${notBefore}, not_after = ${notAfter}, fault = null, failures = 0, renew_at = ${renewAt},
      warned_at = null, updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

/** The one before it goes on serving until it expires: only one that was never issued is failed. */
export function setCertificateFailed(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: CertificateId,
  { fault, renewAt }: { readonly fault: OperationFault; readonly renewAt: Date },
  now: Date,
) {
  return tx.run(sql`
    update certificates set status = case when chain is null or not_after < ${now} then 'failed' else status end,
      fault = ${JSON.stringify(fault)}::jsonb, failures = failures + 1, renew_at = ${renewAt}, updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

/** Installed everywhere: it has no fault any more, and its next renewal is known. */
export function setCertificateInstalled(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: CertificateId,
  renewAt: Date | null,
  now: Date,
) {
  return tx.run(sql`
    update certificates set fault = null, failures = 0, renew_at = ${renewAt}, updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

export function deleteCertificate(tx: Queryable, workspaceId: WorkspaceId, id: CertificateId) {
  return tx.run(sql`delete from certificates where workspace_id = ${workspaceId} and id = ${id}`);
}

/** Those to be issued, renewed or installed now, of names that are routed to a server. */
export function takeDueCertificates(db: Queryable, due: Due) {
  const where = fragment`exists (
    select 1 from environment_domains n
    join environment_places p on p.workspace_id = n.workspace_id and p.environment_id = n.environment_id
    where n.workspace_id = certificates.workspace_id and n.certificate_id = certificates.id)`;
  return db.rows<{ workspaceId: WorkspaceId; id: CertificateId }>(
    takeDue('certificates', 'renew_at', due, { where }),
  );
}

/** About to expire and not yet reported; one of a short life only in its last part. */
export function takeExpiring(tx: Queryable, before: Date, now: Date, most: number) {
  return tx.rows<{
    workspaceId: WorkspaceId;
    id: CertificateId;
    names: readonly string[];
    notAfter: Date;
  }>(sql`
    update certificates c set warned_at = ${now}
    from (select e.workspace_id, e.id from certificates e
          where e.not_after < least(${before}::timestamptz, ${now}::timestamptz + (e.not_after - e.not_before) / 6)
            and e.warned_at is null
            and exists (select 1 from environment_domains n
                        where n.workspace_id = e.workspace_id and n.certificate_id = e.id)
          order by e.not_after limit ${most} for update of e skip locked) due
    where c.workspace_id = due.workspace_id and c.id = due.id
    returning c.workspace_id as "workspaceId", c.id, c.names, c.not_after as "notAfter"`);
}

export interface AcmeAccountRow {
  readonly id: AcmeAccountId;
  readonly accountUrl: string;
  readonly thumbprint: string;
  readonly keySealed: Buffer;
}

export function findAcmeAccountRow(db: Queryable, workspaceId: WorkspaceId, directoryUrl: string) {
  return db.one<AcmeAccountRow>(sql`
    select id, account_url as "accountUrl", thumbprint, key_sealed as "keySealed" from acme_accounts
    where workspace_id = ${workspaceId} and directory_url = ${directoryUrl}`);
}

/** False where another was first. */
export async function insertAcmeAccount(
  tx: Queryable,
  workspaceId: WorkspaceId,
  directoryUrl: string,
  { id, accountUrl, thumbprint, keySealed }: AcmeAccountRow,
  now: Date,
): Promise<boolean> {
  const made = await tx.run(sql`
    insert into acme_accounts (workspace_id, id, directory_url, account_url, thumbprint, key_sealed, created_at)
    values (${workspaceId}, ${id}, ${directoryUrl}, ${accountUrl}, ${thumbprint}, ${keySealed}, ${now})
    on conflict do nothing`);
  return made === 1;
}

/** It was registered again, with the same key. */
export function setAccountUrl(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: AcmeAccountId,
  accountUrl: string,
) {
  return db.run(sql`
    update acme_accounts set account_url = ${accountUrl} where workspace_id = ${workspaceId} and id = ${id}`);
}
