import type { Claims } from '../../../adapters/oidc/oidc.ts';
import { Fault } from '../../../fault.ts';
import { normaliseEmail } from '../../../principal.ts';
import { type OidcContext, requireOidc } from './oidc.ts';

// As the schema of every address that comes over the wire: a provider's is no better than a person's.
const address = /^[^\s@<>"(),:;\\\p{Cc}]+@[^\s@<>"(),:;\\\p{Cc}]+\.[^\s@<>"(),:;\\.\p{Cc}]+$/u;

/** The address that the provider vouches for. */
export function acceptedEmail(ctx: OidcContext, claims: Claims): string {
  const { config } = requireOidc(ctx);
  const { email = '', isEmailVerified = config.trustEmail } = claims;
  if (email.length > 254 || !address.test(email))
    throw refused('The provider gives no e-mail address for you.', {
      hint: 'Whoever runs this instance has the provider give one: the scope `email`, and SLIPWAY_OIDC_SCOPES.',
    });
  if (!isEmailVerified)
    throw refused('The provider does not say that your e-mail address is confirmed.', {
      hint: 'Confirm it there. Where the provider never says so, whoever runs this instance may trust it: SLIPWAY_OIDC_TRUST_EMAIL.',
    });
  const normal = normaliseEmail(email);
  const domain = normal.slice(normal.lastIndexOf('@') + 1);
  if (config.emailDomains.length > 0 && !config.emailDomains.includes(domain))
    throw refused(`Addresses of ${domain} are not let in here.`, {
      hint: 'Sign in there with another address; whoever runs this instance says which: SLIPWAY_OIDC_EMAIL_DOMAINS.',
    });
  return normal;
}

/** Of an account that is linked the address does not matter, except for who is let in by its domain. */
export function acceptedDomain(ctx: OidcContext, claims: Claims): void {
  if (requireOidc(ctx).config.emailDomains.length > 0) acceptedEmail(ctx, claims);
}

function refused(sentence: string, { hint }: { readonly hint: string }): Fault {
  return new Fault('oidc_email_refused', sentence, { hint });
}
