/** Events and notices of domains and certificates. */
import type { WorkspaceEvent } from '../../events/event-kinds.ts';
import { appendEvents } from '../../events/events.ts';
import { raiseNotice } from '../../events/notices.ts';
import type { DomainId, EnvironmentId, ProjectId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { readEnvironmentState } from '../environments/environment-state.ts';
import type { CertificateRow } from './certificate-queries.ts';
import { listOfCertificate, listOfDomain } from './name-queries.ts';

/** In the transaction that changed it, last. */
export function publishDomainUpdate(
  tx: Queryable,
  workspaceId: WorkspaceId,
  update: {
    readonly domainId: DomainId;
    readonly hostname: string;
    readonly reason: string;
    readonly status?: string;
  },
) {
  return appendEvents<WorkspaceEvent>(tx, { workspaceId, feedId: workspaceId }, [
    { kind: 'domain_updated', data: update },
  ]);
}

/** In the transaction that changed it, last. */
export function publishCertificateUpdate(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { id, names }: Pick<CertificateRow, 'id' | 'names'>,
  status: 'issued' | 'failed' | 'expiring',
) {
  const data = { certificateId: id, hostname: names[0] ?? '', reason: 'certificate', status };
  return appendEvents<WorkspaceEvent>(tx, { workspaceId, feedId: workspaceId }, [
    { kind: 'domain_updated', data },
  ]);
}

/**
 * To the projects whose names it is for. Failing is reported with the first failure after a success, nearing its end
 * once: the same `occasion` is the same notice.
 */
export async function noticeCertificate(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { id, names }: Pick<CertificateRow, 'id' | 'names'>,
  kind: 'certificate_failing' | 'certificate_expiring',
  occasion: string,
  data: Readonly<Record<string, unknown>>,
): Promise<void> {
  const environments = await listOfCertificate(tx, workspaceId, id);
  for (const project of await projectsOf(tx, workspaceId, environments))
    await raiseNotice(tx, {
      workspaceId,
      kind,
      subject: { type: 'certificate', id },
      ...project,
      key: `${kind}:${id}:${occasion}:${project.projectId ?? ''}`,
      data: { hostname: names[0] ?? '', names, ...data },
    });
}

/** To the projects that it points to, or to the workspace where there are none. */
export async function noticeDomainLost(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { id, hostname }: { readonly id: DomainId; readonly hostname: string },
  now: Date,
): Promise<void> {
  const reason = `The record that verifies ${hostname} has been missing for a week, so it is not verified any more.`;
  const names = await listOfDomain(tx, workspaceId, id);
  for (const project of await projectsOf(tx, workspaceId, names))
    await raiseNotice(tx, {
      workspaceId,
      kind: 'domain_lost',
      subject: { type: 'domain', id },
      ...project,
      data: { hostname, reason },
      key: `domain_lost:${id}:${now.toISOString()}:${project.projectId ?? ''}`,
    });
}

interface AffectedProject {
  readonly projectId?: ProjectId;
  readonly environmentId?: EnvironmentId;
}

/** The projects of these environments, each once with its first one; a single empty entry where there are none. */
async function projectsOf(
  db: Queryable,
  workspaceId: WorkspaceId,
  names: readonly { readonly environmentId: EnvironmentId }[],
): Promise<AffectedProject[]> {
  const projects = new Map<ProjectId, AffectedProject>();
  for (const { environmentId } of names) {
    const environment = await readEnvironmentState(db, workspaceId, environmentId);
    if (environment && !projects.has(environment.projectId))
      projects.set(environment.projectId, { projectId: environment.projectId, environmentId });
  }
  return projects.size === 0 ? [{}] : [...projects.values()];
}
