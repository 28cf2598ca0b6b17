/**
 * Connects an account. The token is tried before it is kept; one that the provider refuses, or that may too little,
 * is refused with words. A new token of an account that is connected takes the old one's place: whatever uses the
 * account goes on with it.
 */
import { type GitHostKind, normalBaseUrl, openGitHost } from '../../adapters/git-hosts/git-hosts.ts';
import { after, hour } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import { type GitProviderId, newId, type WorkspaceId } from '../../ids.ts';
import { Secret } from '../../secret.ts';
import type { Answer, SaveResponse } from '../../store/answer.ts';
import { type GitProvidersContext, publishProviderEvent, tokenPlace } from './git-providers.ts';
import * as queries from './queries.ts';
import { readProvider } from './read-providers.ts';

export const checkEveryMs = 6 * hour;

export interface NewToken {
  readonly provider: GitHostKind;
  readonly token: string;
  readonly baseUrl?: string;
  readonly username?: string;
  readonly label?: string;
}

export async function saveToken(
  ctx: GitProvidersContext,
  workspaceId: WorkspaceId,
  wanted: NewToken,
  saveResponse: SaveResponse,
): Promise<Answer<Awaited<ReturnType<typeof readProvider>>>> {
  const { provider: kind, username } = wanted;
  const baseUrl = normalBaseUrl(kind, wanted.baseUrl);
  const token = new Secret(wanted.token);
  const host = await openGitHost(
    { kind, baseUrl, token, ...(username !== undefined && { username }) },
    ctx.egress.fetch,
  );
  const { login, name, avatarUrl, missing, tokenExpiresAt } = await host.account().catch((error: unknown) => {
    throw wanted.baseUrl === undefined ? withUsualAddress(error, baseUrl) : error;
  });
  if (missing.length > 0) {
    const lacking = missing.map(({ scope, needed }) => `${scope} (${needed})`).join(', ');
    throw new Fault('provider_scopes_missing', `The token may do too little. It lacks ${lacking}.`, {
      hint: 'Make a token with these permissions and save that one.',
      errors: missing.map(({ scope, needed }) => ({ path: 'token', message: `lacks ${scope}: ${needed}` })),
    });
  }
  const now = ctx.clock.now();
  const checkAt = after(now, checkEveryMs);
  return ctx.db.transaction(async (tx) => {
    const known = await queries.lockAccount(tx, workspaceId, { kind, baseUrl, login });
    const id = known ?? newId<GitProviderId>();
    const row = {
      id,
      kind,
      baseUrl,
      username: username ?? null,
      label: wanted.label ?? login,
      login,
      accountName: name,
      avatarUrl,
      tokenExpiresAt,
    };
    const sealed = await ctx.sealer.seal(tx, tokenPlace(workspaceId, id), token);
    if (known) await queries.replaceToken(tx, workspaceId, row, sealed, now, checkAt);
    else if (!(await queries.insertProvider(tx, workspaceId, row, sealed, now, checkAt)))
      throw savedMeanwhile();
    ctx.cache.forget(id);
    const body = await readProvider(tx, workspaceId, id);
    const location = `/api/v1/git-providers/${id}`;
    const answer = await saveResponse(tx, { status: known ? 200 : 201, location, body });
    await publishProviderEvent(tx, workspaceId, id, known ? 'token_replaced' : 'connected');
    return answer;
  });
}

/** Who has a host of their own and forgot to say so has sent its token elsewhere: they are told where. */
function withUsualAddress(error: unknown, asked: string): unknown {
  if (!(error instanceof Fault)) return error;
  const { code, message, hint, evidence, retryAfterSeconds } = error;
  return new Fault(code, message, {
    hint: `${hint ?? ''} No \`baseUrl\` was given, so ${asked} was asked; for a host of your own, give its address as \`baseUrl\`.`.trim(),
    ...(evidence !== undefined && { evidence }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    cause: error,
  });
}

function savedMeanwhile(): Fault {
  return new Fault('idempotency_in_progress', 'The same account is being connected by another request.', {
    hint: 'Ask again in a moment.',
    retryAfterSeconds: 1,
  });
}
