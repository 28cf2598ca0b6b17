import { after } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import { normaliseEmail } from '../../principal.ts';
import type { Queryable } from '../../store/database.ts';
import type { AccountsContext } from './accounts.ts';
import { enqueueMail } from './mail-outbox.ts';
import { hashPassword, passwordTag, refuseCommonPassword } from './passwords.ts';
import * as queries from './queries.ts';
import { lifetimes } from './tokens.ts';

export interface RegisterInput {
  readonly email: string;
  readonly password: string;
  readonly name?: string;
  /** The token of an invitation to this address. */
  readonly invitation?: string;
}

/**
 * Requests an account. It does the same work for every address and never looks whether one has an
 * account: the mail that follows tells its owner, and nobody else.
 */
export async function register(context: AccountsContext, input: RegisterInput) {
  const email = normaliseEmail(input.email);
  const { db, clock, invitations } = context;
  const invitationId =
    input.invitation === undefined
      ? undefined
      : await invitations.find(db, input.invitation, email, clock.now());
  // Whoever has the token has read the mail: that it is right tells nothing to anybody else.
  const closed = invitationId === undefined && (await whyClosed(db, context));
  if (closed) throw closed;
  await refuseCommonPassword(input.password);
  const passwordHash = await hashPassword(input.password);
  const now = context.clock.now();
  const otpExpiresAt = after(now, lifetimes.otpMs);
  await context.db.transaction(async (tx) => {
    await queries.saveRegistration(tx, {
      email,
      name: input.name,
      passwordHash,
      passwordTag: passwordTag(context.masterKeys, email, input.password),
      invitationId,
      otpExpiresAt,
      now,
    });
    await enqueueMail(tx, 'registration', email, now);
  });
  context.wakeMail();
  return { email, otpRequired: true as const, otpExpiresAt: otpExpiresAt.toISOString() };
}

/**
 * Why nobody may register, where that is so. Only an account counts, and there is one only once its address is confirmed:
 * whoever registers first and confirms nothing keeps nobody out. With `lock`, in the transaction that makes the account,
 * two cannot both be the first.
 */
export async function whyClosed(
  db: Queryable,
  { config }: Pick<AccountsContext, 'config'>,
  mode: 'look' | 'lock' = 'look',
): Promise<Fault | undefined> {
  const registration = (await queries.findRegistrationMode(db)) ?? config.registration;
  if (registration === 'open') return undefined;
  if (registration === 'closed') {
    return new Fault('registration_closed', 'This instance does not take new accounts.', {
      hint: 'Ask to be invited. Whoever runs it can open registration with SLIPWAY_REGISTRATION=open.',
    });
  }
  if (mode === 'lock') await queries.lockNewAccounts(db);
  if (!(await queries.hasAccounts(db))) return undefined;
  return new Fault(
    'registration_closed',
    'This instance has its first account, and takes no others by itself.',
    { hint: 'Ask to be invited, or ask whoever runs it: SLIPWAY_REGISTRATION=open lets others register.' },
  );
}
