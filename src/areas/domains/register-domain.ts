/** Registers a name for a workspace. It counts once its owner has put our record into the zone. */
import { randomBytes } from 'node:crypto';
import { toAscii } from '../../adapters/dns/to-ascii.ts';
import { Fault } from '../../fault.ts';
import { type DomainId, newId, type WorkspaceId } from '../../ids.ts';
import type { Answer, SaveResponse } from '../../store/answer.ts';
import type { Queryable } from '../../store/database.ts';
import { publishDomainUpdate } from './domain-events.ts';
import { ancestorsOf, type DomainsContext } from './domains.ts';
import * as queries from './queries.ts';
import { readDomain } from './read-domains.ts';

export function registerDomain(
  ctx: DomainsContext,
  workspaceId: WorkspaceId,
  given: string,
  saveResponse: SaveResponse,
): Promise<Answer<Awaited<ReturnType<typeof readDomain>>>> {
  // A verified name covers everything below it, so a wildcard is the same as the name itself.
  const hostname = readHostname(given, 'hostname', true).replace(/^\*\./, '');
  const now = ctx.clock.now();
  return ctx.db.transaction(async (tx) => {
    await queries.lockNames(tx);
    await refuseForeignName(tx, workspaceId, hostname, 'hostname');
    const id = newId<DomainId>();
    const token = randomBytes(20).toString('base64url');
    if (!(await queries.insertDomain(tx, workspaceId, { id, hostname, token }, now))) throw taken(hostname);
    // One below a verified name of theirs needs no record of its own; under the lock, as every verification.
    if (await verifiedParent(tx, workspaceId, hostname)) await queries.setVerified(tx, workspaceId, id, now);
    const body = await readDomain(tx, workspaceId, id);
    const answer = await saveResponse(tx, { status: 201, location: `/api/v1/domains/${id}`, body });
    await publishDomainUpdate(tx, workspaceId, {
      domainId: id,
      hostname,
      reason: 'registered',
      status: body.status,
    });
    return answer;
  });
}

/** As it is stored: A-labels, small letters. */
export function readHostname(given: string, path: string, wildcard = false): string {
  const read = toAscii(given, { wildcard });
  if (read.ok) return read.ascii;
  const { message, hint } = read;
  throw new Fault('invalid_input', message, { hint, errors: [{ path, message }] });
}

/** The parent that the workspace has verified, if there is one. */
export async function verifiedParent(
  tx: Queryable,
  workspaceId: WorkspaceId,
  hostname: string,
): Promise<string | undefined> {
  const owner = await queries.nearestVerified(tx, ancestorsOf(hostname).slice(1));
  return owner?.workspaceId === workspaceId ? owner.hostname : undefined;
}

/** A name that another workspace has verified, or one below it, cannot be used. */
export async function refuseForeignName(
  tx: Queryable,
  workspaceId: WorkspaceId,
  hostname: string,
  path: string,
): Promise<void> {
  const owner = await queries.nearestVerified(tx, ancestorsOf(hostname));
  if (!owner || owner.workspaceId === workspaceId) return;
  throw new Fault('domain_taken', `${hostname} belongs to another workspace of this Slipway.`, {
    hint: 'It has to be deleted there first.',
    errors: [{ path, message: 'belongs to another workspace' }],
  });
}

function taken(hostname: string): Fault {
  return new Fault('name_taken', `${hostname} is registered already.`, {
    hint: 'Go on with the one that is there: GET /domains lists it.',
    errors: [{ path: 'hostname', message: 'is registered in this workspace already' }],
  });
}
