/** News of a certificate, told with the domain events of the workspace. */
import { appendEvents } from '../../events/events.ts';
import type { WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import type { CertificateRow } from './certificate-queries.ts';

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
