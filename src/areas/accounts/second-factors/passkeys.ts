/** Passkeys of an account: registered, named, removed. */
import { Fault } from '../../../fault.ts';
import { newId, type PasskeyId } from '../../../ids.ts';
import type { Principal } from '../../../principal.ts';
import type { Queryable } from '../../../store/database.ts';
import type { AccountsContext, ClientTrace } from '../accounts.ts';
import { readUser } from '../read-user.ts';
import { invalidChallenge, openChallenge, takeChallengeTry } from './challenges.ts';
import { changeFactors } from './change-factors.ts';
import { attestationOptions, type PasskeyAttestation, readAttestation } from './passkey-ceremony.ts';
import * as queries from './queries.ts';

const mostPerAccount = 20;

/** What the browser is asked to make a key for. */
export async function beginPasskey(context: AccountsContext, { accountId }: Principal, client: ClientTrace) {
  const { db, publicUrl } = context;
  const [user, passkeys] = [await readUser(db, accountId), await queries.listPasskeys(db, accountId)];
  return db.transaction(async (tx) => {
    const { challenge, expiresAt } = await openChallenge(tx, context, accountId, 'register', client);
    return { challenge, options: attestationOptions(publicUrl(), challenge, user, passkeys), expiresAt };
  });
}

export interface NewPasskey {
  readonly name: string;
  readonly challenge: string;
  readonly credential: PasskeyAttestation;
}

export async function registerPasskey(
  context: AccountsContext,
  principal: Principal,
  { name, challenge, credential }: NewPasskey,
  client: ClientTrace,
) {
  const { accountId } = principal;
  const begun = await takeChallengeTry(context, challenge, 'register', client);
  if (begun.accountId !== accountId) throw invalidChallenge();
  const made = await readAttestation(context.publicUrl(), challenge, credential);
  const row = {
    id: newId<PasskeyId>(),
    name,
    credentialId: made.id,
    publicKey: Buffer.from(made.publicKey),
    counter: made.counter,
    transports: made.transports ?? [],
    createdAt: context.clock.now(),
  };
  const insert = async (tx: Queryable) => {
    if ((await queries.listPasskeys(tx, accountId)).length >= mostPerAccount)
      throw new Fault(
        'invalid_input',
        `You have ${mostPerAccount} passkeys: remove one that you do not use.`,
      );
    if (!(await queries.insertPasskey(tx, accountId, row)))
      throw new Fault('passkey_known', 'This authenticator is registered already.', {
        hint: 'GET /auth/second-factors lists yours; it may also be with another account.',
      });
  };
  const given = await changeFactors(context, principal, 'passkey_added', insert, begun.tokenHash);
  return { ...showPasskey({ ...row, lastUsedAt: null }), ...given };
}

export async function renamePasskey(
  { db }: AccountsContext,
  { accountId }: Principal,
  id: PasskeyId,
  name: string,
) {
  // In one transaction with the refusal: what was refused is not in the audit log.
  return db.transaction(async (tx) => {
    const row = await queries.setPasskeyName(tx, accountId, id, name);
    if (!row) throw passkeyNotFound();
    return showPasskey(row);
  });
}

export async function removePasskey(
  context: AccountsContext,
  principal: Principal,
  id: PasskeyId,
): Promise<void> {
  await changeFactors(context, principal, 'passkey_removed', async (tx) => {
    if (!(await queries.deletePasskey(tx, principal.accountId, id))) throw passkeyNotFound();
  });
}

export function showPasskey({ id, name, createdAt, lastUsedAt }: Omit<queries.PasskeyRow, 'publicKey'>) {
  return {
    id,
    name,
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
  };
}

function passkeyNotFound(): Fault {
  return new Fault('not_found', 'No such passkey.');
}
