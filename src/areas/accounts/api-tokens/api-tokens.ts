/**
 * API tokens: how a program is somebody's. Each belongs to who made it and to one workspace, has the abilities it was
 * given, and ends with its maker's membership. What it may do is looked up with each request, so it never can do more than
 * its maker at that moment. A token makes no tokens.
 */
import { after, day } from '../../../clock.ts';
import { Fault } from '../../../fault.ts';
import { type AccountId, type ApiTokenId, newId, type ProjectId, type WorkspaceId } from '../../../ids.ts';
import type { Page } from '../../../page.ts';
import { type Ability, abilitiesAllow, permissions, type Role, roleAllows } from '../../../principal.ts';
import type { SaveResponse } from '../../../store/answer.ts';
import type { Queryable } from '../../../store/database.ts';
import type { AccountsContext } from '../accounts.ts';
import { newApiToken } from './api-token.ts';
import * as queries from './queries.ts';

const mostPerMember = 100;
/** One that has expired is shown for so long, so that its owner finds out why a program is refused. */
const keepExpiredMs = 30 * day;

/** Who asks: what they are in the workspace, and which projects there are for them. */
export interface Maker {
  readonly workspaceId: WorkspaceId;
  readonly accountId: AccountId;
  readonly role: Role;
  readonly projects: readonly ProjectId[] | null;
}

export interface CreateApiTokenInput {
  readonly name: string;
  readonly abilities: readonly Ability[];
  readonly projectId?: ProjectId;
  readonly expiresAt?: string;
}

type Context = Pick<AccountsContext, 'db' | 'clock'>;

export async function createApiToken(
  { db, clock }: Context,
  maker: Maker,
  { name, abilities, projectId, expiresAt }: CreateApiTokenInput,
  saveResponse: SaveResponse,
) {
  const now = clock.now();
  const { workspaceId, accountId } = maker;
  refuseMoreThan(maker, abilities);
  const end = expiresAt === undefined ? null : new Date(expiresAt);
  if (end && end <= now) throw invalid('expiresAt', 'must be in the future');
  const { token, hash, start } = newApiToken();
  const id = newId<ApiTokenId>();
  return db.transaction(async (tx) => {
    if ((await queries.countApiTokens(tx, workspaceId, accountId)) >= mostPerMember)
      throw invalid(
        'name',
        `cannot be given: you have ${mostPerMember} tokens here, revoke those that nobody uses`,
      );
    if (projectId !== undefined && !(await isTheirs(tx, maker, projectId)))
      throw new Fault('not_found', 'No such project.');
    const row = {
      id,
      accountId,
      name,
      start,
      abilities: [...new Set(abilities)],
      projectId: projectId ?? null,
      expiresAt: end,
      createdAt: now,
    };
    const made = await queries.insertApiToken(tx, workspaceId, { ...row, tokenHash: hash });
    const shown = show({ ...row, email: made?.email ?? '', lastUsedAt: null });
    const location = `/api/v1/api-tokens/${id}`;
    // Under an idempotency key the answer is stored: the token itself must not be. A repeat tells of it without.
    await saveResponse(tx, { status: 201, body: shown, location });
    return { status: 201 as const, body: { ...shown, token }, location };
  });
}

/** One's own; those who manage the workspace see everybody's. */
export async function listApiTokens({ db }: Context, maker: Maker, page: Page) {
  const { before, limit } = page;
  const rows = await queries.listApiTokens(db, maker.workspaceId, whose(maker), { before, limit: limit + 1 });
  return page.answer(rows, show);
}

export async function revokeApiToken({ db }: Context, maker: Maker, id: ApiTokenId): Promise<void> {
  if (await queries.deleteApiToken(db, maker.workspaceId, whose(maker), id)) return;
  throw new Fault('not_found', 'No such API token.');
}

export function pruneExpiredTokens({ db, clock }: Context) {
  return queries.pruneApiTokens(db, after(clock.now(), -keepExpiredMs));
}

function whose({ accountId, role, projects }: Maker): AccountId | null {
  return roleAllows(role, 'manage') && projects === null ? null : accountId;
}

async function isTheirs(tx: Queryable, { workspaceId, projects }: Maker, id: ProjectId): Promise<boolean> {
  return projects ? projects.includes(id) : queries.isProject(tx, workspaceId, id);
}

/** It would be refused later anyway; whoever makes it should know now. */
function refuseMoreThan({ role }: Maker, abilities: readonly Ability[]): void {
  const more = abilities.findIndex((ability) =>
    permissions.some((each) => abilitiesAllow([ability], each) && !roleAllows(role, each)),
  );
  if (more >= 0) throw invalid(`abilities[${more}]`, `is more than your own role, ${role}, allows`);
}

function invalid(path: string, message: string): Fault {
  return new Fault('invalid_input', `${path} ${message}.`, { errors: [{ path, message }] });
}

function show({
  accountId,
  email,
  expiresAt,
  lastUsedAt,
  createdAt,
  abilities,
  ...row
}: queries.ApiTokenRow) {
  return {
    ...row,
    abilities: [...abilities],
    createdBy: { id: accountId, email },
    expiresAt: expiresAt?.toISOString() ?? null,
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
  };
}
