import { after } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import { normaliseEmail } from '../../principal.ts';
import type { AccountsContext } from './accounts.ts';
import { enqueueMail } from './mail-outbox.ts';
import { hashPassword, passwordTag, refuseCommonPassword } from './passwords.ts';
import * as queries from './queries.ts';
import { lifetimes } from './tokens.ts';

export interface RegisterInput {
  readonly email: string;
  readonly password: string;
  readonly name?: string;
}

/**
 * Requests an account. It does the same work for every address and never looks whether one has an
 * account: the mail that follows tells its owner, and nobody else.
 */
export async function register(context: AccountsContext, input: RegisterInput) {
  if (context.config.registration === 'closed') {
    throw new Fault('registration_closed', 'This instance does not take new accounts.', {
      hint: 'Whoever runs it can open registration with SLIPWAY_REGISTRATION=open.',
    });
  }
  await refuseCommonPassword(input.password);
  const email = normaliseEmail(input.email);
  const passwordHash = await hashPassword(input.password);
  const now = context.clock.now();
  const otpExpiresAt = after(now, lifetimes.otpMs);
  await context.db.transaction(async (tx) => {
    await queries.saveRegistration(tx, {
      email,
      name: input.name,
      passwordHash,
      passwordTag: passwordTag(context.masterKeys, email, input.password),
      otpExpiresAt,
      now,
    });
    await enqueueMail(tx, 'registration', email, now);
  });
  context.wakeMail();
  return { email, otpRequired: true as const, otpExpiresAt: otpExpiresAt.toISOString() };
}
