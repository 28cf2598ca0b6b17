/** Which environments stand on a server: for those who want to take it away. */
import type { ServerId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import * as queries from './queries.ts';

export function environmentsOn(db: Queryable, workspaceId: WorkspaceId, serverId: ServerId) {
  return queries.listOnServer(db, workspaceId, serverId);
}
