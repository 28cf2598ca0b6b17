/** News of a certificate, told with the domain events of the workspace. */
import { appendEvents } from '../../events/events.ts';
import { raiseNotice } from '../../events/notices.ts';
import type { WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import type { CertificateRow } from './certificate-queries.ts';
import { projectsBehind } from './environments-behind.ts';
import { listOfCertificate } from './name-queries.ts';

/** In the transaction that changed it, last. */
export function tellCertificate(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { id, names }: Pick<CertificateRow, 'id' | 'names'>,
  status: 'issued' | 'failed' | 'expiring',
) {
  const data = { certificateId: id, hostname: names[0] ?? '', reason: 'certificate', status };
  return appendEvents(tx, { workspaceId, feedId: workspaceId }, [{ kind: 'domain_updated', data }]);
}

/**
 * To the projects whose names it is for. Failing is told with the first failure after a success, nearing its end once:
 * `occasion` is what makes it the same news.
 */
export async function noticeCertificate(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { id, names }: Pick<CertificateRow, 'id' | 'names'>,
  kind: 'certificate_failing' | 'certificate_expiring',
  occasion: string,
  data: Readonly<Record<string, unknown>>,
): Promise<void> {
  const behind = await listOfCertificate(tx, workspaceId, id);
  for (const place of await projectsBehind(tx, workspaceId, behind))
    await raiseNotice(tx, {
      workspaceId,
      kind,
      subject: { type: 'certificate', id },
      ...place,
      key: `${kind}:${id}:${occasion}:${place.projectId ?? ''}`,
      data: { hostname: names[0] ?? '', names, ...data },
    });
}
