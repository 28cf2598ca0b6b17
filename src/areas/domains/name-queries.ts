/** The SQL of names that point to environments, always by workspace, except for whether one is in use. */
import type { CertificateId, DomainId, EnvironmentDomainId, EnvironmentId, WorkspaceId } from '../../ids.ts';
import type { OperationFault } from '../../operations/operations.ts';
import type { Queryable } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';

export type SslMode = 'auto' | 'custom' | 'off';
export type Www = 'none' | 'redirect_to_apex' | 'redirect_to_www';
export type CertificateStatus = 'pending' | 'issued' | 'failed';

export interface NewName {
  readonly id: EnvironmentDomainId;
  readonly environmentId: EnvironmentId;
  readonly domainId: DomainId;
  readonly hostname: string;
  readonly sslMode: SslMode;
  readonly certificateId: CertificateId | null;
  readonly redirectHttp: boolean;
  readonly www: Www;
  readonly hstsSeconds: number | null;
}

export interface NameRow extends NewName {
  readonly createdAt: Date;
  /** Of its certificate. */
  readonly certificateStatus: CertificateStatus | null;
  readonly issuer: string | null;
  readonly notAfter: Date | null;
  readonly fault: OperationFault | null;
}

export function listNames(db: Queryable, workspaceId: WorkspaceId, environmentIds: readonly EnvironmentId[]) {
  return db.rows<NameRow>(sql`
    select n.id, n.environment_id as "environmentId", n.domain_id as "domainId", n.hostname, n.ssl_mode as "sslMode",
      n.certificate_id as "certificateId", n.redirect_http as "redirectHttp", n.www, n.hsts_seconds as "hstsSeconds",
      n.created_at as "createdAt", c.status as "certificateStatus", c.issuer, c.not_after as "notAfter", c.fault
    from environment_domains n
    left join certificates c on c.workspace_id = n.workspace_id and c.id = n.certificate_id
    where n.workspace_id = ${workspaceId} and n.environment_id = any(${environmentIds}::uuid[])
    order by n.id`);
}

/** Of these names, those in use anywhere in the installation, with what they point to. */
export function findConflicting(db: Queryable, names: readonly string[]) {
  return db.rows<{
    workspaceId: WorkspaceId;
    environmentId: EnvironmentId;
    id: EnvironmentDomainId;
    hostname: string;
    certificateId: CertificateId | null;
  }>(sql`
    select workspace_id as "workspaceId", environment_id as "environmentId", id, hostname,
      certificate_id as "certificateId" from environment_domains
    where hostname = any(${names}::text[])
      or (www <> 'none' and 'www.' || hostname = any(${names}::text[]))`);
}

export function saveName(tx: Queryable, workspaceId: WorkspaceId, row: NewName, now: Date) {
  return tx.run(sql`
    insert into environment_domains (workspace_id, id, environment_id, domain_id, hostname, ssl_mode, certificate_id,
      redirect_http, www, hsts_seconds, created_at, updated_at)
    values (${workspaceId}, ${row.id}, ${row.environmentId}, ${row.domainId}, ${row.hostname}, ${row.sslMode},
      ${row.certificateId}, ${row.redirectHttp}, ${row.www}, ${row.hstsSeconds}, ${now}, ${now})
    on conflict (workspace_id, id) do update set domain_id = excluded.domain_id, ssl_mode = excluded.ssl_mode,
      certificate_id = excluded.certificate_id, redirect_http = excluded.redirect_http, www = excluded.www,
      hsts_seconds = excluded.hsts_seconds, updated_at = excluded.updated_at`);
}

export function deleteName(tx: Queryable, workspaceId: WorkspaceId, id: EnvironmentDomainId) {
  return tx.run(sql`delete from environment_domains where workspace_id = ${workspaceId} and id = ${id}`);
}

export function listOfDomain(db: Queryable, workspaceId: WorkspaceId, domainId: DomainId) {
  return db.rows<{ environmentId: EnvironmentId; hostname: string }>(sql`
    select environment_id as "environmentId", hostname from environment_domains
    where workspace_id = ${workspaceId} and domain_id = ${domainId} order by id`);
}

export function listOfCertificate(db: Queryable, workspaceId: WorkspaceId, id: CertificateId) {
  return db.rows<{ environmentId: EnvironmentId }>(sql`
    select distinct environment_id as "environmentId" from environment_domains
    where workspace_id = ${workspaceId} and certificate_id = ${id}`);
}
