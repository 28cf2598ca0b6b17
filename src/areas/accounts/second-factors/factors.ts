/** What second factors an account has, and the one of an authenticator app: begun, turned on with its first code, and off. */
import { after, hour } from '../../../clock.ts';
import { Fault } from '../../../fault.ts';
import { newId, type TotpFactorId } from '../../../ids.ts';
import type { Principal } from '../../../principal.ts';
import { Secret } from '../../../secret.ts';
import type { AccountsContext } from '../accounts.ts';
import { readUser } from '../read-user.ts';
import { changeFactors, type GivenCodes } from './change-factors.ts';
import { showPasskey } from './passkeys.ts';
import { invalidSecondFactor, totpPlace } from './proof.ts';
import * as queries from './queries.ts';
import { matchingCounter, newTotpSecret, otpauthUrl } from './totp.ts';

/** For how long a secret that was shown waits for its first code. */
const waitingMs = hour;

export async function readSecondFactors({ db }: AccountsContext, { accountId }: Principal) {
  const found = await queries.findFactors(db, accountId);
  const passkeys = await queries.listPasskeys(db, accountId);
  const madeAt = found?.codesMadeAt?.toISOString();
  return {
    totp: found?.totpSince ? { since: found.totpSince.toISOString() } : null,
    passkeys: passkeys.map(showPasskey),
    recoveryCodes: madeAt === undefined ? null : { left: found?.codesLeft ?? 0, madeAt },
  };
}

/** Nothing changes yet: one that is on stays so until the new one has proven itself. */
export async function beginTotp({ db, clock, sealer }: AccountsContext, { accountId }: Principal) {
  const id = newId<TotpFactorId>();
  const secret = newTotpSecret();
  const email = await db.transaction(async (tx) => {
    await queries.lockAccount(tx, accountId);
    const secretSealed = await sealer.seal(tx, totpPlace(accountId, id), new Secret(secret));
    await queries.insertWaitingTotp(tx, accountId, { id, secretSealed }, clock.now());
    return (await readUser(tx, accountId)).email;
  });
  return { secret, url: otpauthUrl(secret, email) };
}

export function confirmTotp(
  context: AccountsContext,
  principal: Principal,
  code: string,
): Promise<GivenCodes> {
  const { accountId } = principal;
  return changeFactors(context, principal, 'totp_on', async (tx, now) => {
    const waiting = await queries.findWaitingTotp(tx, accountId, after(now, -waitingMs));
    if (!waiting)
      throw new Fault('not_found', 'No authenticator app waits for its first code.', {
        hint: 'Begin again with POST /auth/totp; its secret waits for an hour.',
      });
    const secret = await context.sealer.open(tx, totpPlace(accountId, waiting.id), waiting.secretSealed);
    const counter = matchingCounter(secret.reveal(), code, now);
    if (counter === undefined) throw invalidSecondFactor();
    await queries.setTotpConfirmed(tx, accountId, waiting.id, counter, now);
  });
}

export async function removeTotp(context: AccountsContext, principal: Principal): Promise<void> {
  await changeFactors(context, principal, 'totp_off', async (tx) => {
    if (!(await queries.deleteTotp(tx, principal.accountId)))
      throw new Fault('not_found', 'No authenticator app is turned on.', {
        hint: 'GET /auth/second-factors shows what is turned on.',
      });
  });
}
