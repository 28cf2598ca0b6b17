/** Variables that are set or taken away, with what that needs to be in effect. */
import { Fault } from '../../../fault.ts';
import type { EnvironmentId, WorkspaceId } from '../../../ids.ts';
import type { Answer, SaveResponse } from '../../../store/answer.ts';
import { publishProjectEvent } from '../../projects/projects.ts';
import type { EnvironmentsContext } from '../context.ts';
import { lockEnvironment } from '../environment-state.ts';
import { most, type Needs, needsOfVariable } from '../needs.ts';
import { checkKeys } from './check-keys.ts';
import { openVariables } from './open-variables.ts';
import { type NewVariable, putVariables } from './put-variables.ts';
import * as queries from './queries.ts';
import { noVariable, readVariables, type ShownVariable } from './read-variables.ts';

const mostVariables = 500;

export interface SetVariables {
  readonly variables: ShownVariable[];
  readonly needs: Needs;
}

export async function setVariables(
  ctx: EnvironmentsContext,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  given: readonly NewVariable[],
  saveResponse: SaveResponse,
): Promise<Answer<SetVariables>> {
  checkKeys(given, 'variables');
  return ctx.db.transaction(async (tx) => {
    const { projectId, currentReleaseId } = await lockEnvironment(tx, workspaceId, id);
    const known = new Map(
      (await openVariables(tx, ctx.sealer, workspaceId, id)).map((each) => [each.key, each]),
    );
    const wanted = new Map(given.map((each) => [each.key, each]));
    if (new Set([...known.keys(), ...wanted.keys()]).size > mostVariables) throw tooMany();
    const changes = [...wanted.values()].map((each) => {
      const { key, value, secret = true, target = 'both' } = each;
      const before = known.get(key);
      const compared = before && { value: before.value.reveal(), target: before.target };
      const needs = needsOfVariable(compared, { value, target });
      return { each, needs, isChange: needs !== 'nothing' || before?.isSecret !== secret };
    });
    // One that is as it was is left alone: what is shown of a secret is when it last changed.
    const changed = changes.filter(({ isChange }) => isChange);
    await putVariables(
      tx,
      ctx.sealer,
      workspaceId,
      id,
      changed.map(({ each }) => each),
      ctx.clock.now(),
    );
    const variables = await readVariables(tx, ctx.sealer, workspaceId, id, [...wanted.keys()]);
    const needs = currentReleaseId === null ? 'nothing' : most(changes.map((each) => each.needs));
    const answer = await saveResponse(tx, { status: 200, body: { variables, needs } });
    if (changed.length > 0)
      await publishProjectEvent(tx, workspaceId, projectId, { reason: 'variables', environmentId: id });
    return answer;
  });
}

export function removeVariable(
  ctx: EnvironmentsContext,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  key: string,
): Promise<{ needs: Needs }> {
  return ctx.db.transaction(async (tx) => {
    const { projectId, currentReleaseId } = await lockEnvironment(tx, workspaceId, id);
    const known = await queries.findVariable(tx, workspaceId, id, key);
    if (!known) throw noVariable();
    await queries.deleteVariable(tx, workspaceId, id, key);
    await publishProjectEvent(tx, workspaceId, projectId, { reason: 'variables', environmentId: id });
    const needs =
      currentReleaseId === null ? 'nothing' : needsOfVariable({ value: '', target: known.target }, undefined);
    return { needs };
  });
}

function tooMany(): Fault {
  return new Fault('invalid_input', `An environment has at most ${mostVariables} variables.`, {
    errors: [{ path: 'variables', message: `would make more than ${mostVariables} variables` }],
  });
}
