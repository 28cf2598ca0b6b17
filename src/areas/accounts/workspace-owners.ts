/** The addresses of those who own a workspace: for what somebody has to hear of, whoever is watching. */
import type { WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { findOwnerEmails } from './queries.ts';

export function ownersOf(db: Queryable, workspaceId: WorkspaceId): Promise<string[]> {
  return findOwnerEmails(db, workspaceId);
}
