import { after } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import type { AccountsContext } from './accounts.ts';
import * as sessions from './session-queries.ts';
import { issueTokens, type SignIn } from './sign-in.ts';
import { hashOpaqueToken, lifetimes } from './tokens.ts';

/** Trades a refresh token for a new pair. A spent one that comes back ends its session. */
export async function refresh(context: AccountsContext, refreshToken: string | undefined): Promise<SignIn> {
  if (!refreshToken) throw invalidRefreshToken();
  const tokenHash = hashOpaqueToken(refreshToken);
  const now = context.clock.now();
  const signIn = await context.db.transaction(async (tx) => {
    const expiresAt = after(now, lifetimes.sessionMs);
    const session = await sessions.spendRefreshToken(tx, tokenHash, now, expiresAt);
    return session && issueTokens(tx, context, session.accountId, session.sessionId);
  });
  if (signIn) return signIn;
  await sessions.endSessionOfSpentToken(context.db, tokenHash, now);
  throw invalidRefreshToken();
}

function invalidRefreshToken(): Fault {
  return new Fault('invalid_refresh_token', 'The refresh token is missing, unknown, expired or spent.', {
    hint: 'Sign in again with POST /api/v1/auth/login.',
  });
}
