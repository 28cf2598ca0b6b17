/** A new project. Its analysis begins with it. */
import { randomInt } from 'node:crypto';
import { Fault } from '../../fault.ts';
import { type AccountId, newId, type ProjectId, type WorkspaceId } from '../../ids.ts';
import { generateKeyPair } from '../../remote/keys/keys.ts';
import type { Answer, SaveResponse } from '../../store/answer.ts';
import { startAnalysis } from './analyse-project.ts';
import { deployKeyPlace, type ProjectsContext, publishProjectEvent, type ShowProject } from './projects.ts';
import * as queries from './queries.ts';
import { describeRepository, type RepositoryReference, readRootDirectory } from './repository-source.ts';

export interface NewProject {
  readonly name: string;
  readonly repository: RepositoryReference;
  readonly branch?: string;
  readonly rootDirectory?: string;
}

export async function createProject<Shown>(
  ctx: ProjectsContext,
  workspaceId: WorkspaceId,
  accountId: AccountId,
  wanted: NewProject,
  show: ShowProject<Shown>,
  saveResponse: SaveResponse,
): Promise<Answer<Shown>> {
  const id = newId<ProjectId>();
  const { name, branch = null } = wanted;
  const rootDirectory = readRootDirectory(wanted.rootDirectory);
  if (await queries.isNameTaken(ctx.db, workspaceId, name, id)) throw projectNameTaken(name);
  const { needsDeployKey, ...repository } = await describeRepository(ctx, workspaceId, wanted.repository);
  const keys = needsDeployKey ? generateKeyPair(`slipway-deploy-${id}`) : undefined;
  const now = ctx.clock.now();
  return ctx.db.transaction(async (tx) => {
    const place = deployKeyPlace(workspaceId, id);
    const deployKeySealed = keys ? await ctx.sealer.seal(tx, place, keys.privateKey) : null;
    const deployPublicKey = keys?.publicKey ?? null;
    const row = {
      id,
      name,
      slug: slugOf(name),
      ...repository,
      deployKeySealed,
      deployPublicKey,
      branch,
      rootDirectory,
    };
    if (!(await queries.insertProject(tx, workspaceId, row, now))) throw projectNameTaken(name);
    await startAnalysis(tx, ctx, workspaceId, id, accountId);
    const body = await show(tx, workspaceId, id);
    const answer = await saveResponse(tx, { status: 201, location: `/api/v1/projects/${id}`, body });
    await publishProjectEvent(tx, workspaceId, id, { reason: 'created' });
    return answer;
  });
}

const letters = 'abcdefghjkmnpqrstuvwxyz23456789';

/** Readable, and never met twice: others cannot tell from it which names are taken. */
export function slugOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase();
  const words = plain
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 30)
    .replace(/-+$/, '');
  const tail = Array.from({ length: 6 }, () => letters[randomInt(letters.length)]).join('');
  return `${words === '' ? 'app' : words}-${tail}`;
}

export function projectNameTaken(name: string): Fault {
  const message = 'is the name of another project of this workspace';
  return new Fault('name_taken', `There is a project named «${name}» already.`, {
    hint: 'Choose another name, or go on with the one that is there: GET /projects lists it.',
    errors: [{ path: 'name', message }],
  });
}
