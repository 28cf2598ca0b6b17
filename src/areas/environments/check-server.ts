/** The server that a request names, checked: it is the caller's, and the answer says which field named it. */
import { Fault } from '../../fault.ts';
import type { ServerId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { readServer } from '../servers/read-server.ts';

export function checkServer(tx: Queryable, workspaceId: WorkspaceId, serverId: ServerId, path: string) {
  return readServer(tx, workspaceId, serverId).catch((error: unknown) => {
    if (!(error instanceof Fault) || error.code !== 'not_found') throw error;
    throw new Fault('not_found', 'There is no such server of yours.', {
      errors: [{ path, message: 'is none of your servers' }],
    });
  });
}
