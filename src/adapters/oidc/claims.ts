/** What a provider says of somebody, out of the ID token and, where that lacks something, of the userinfo endpoint. */
import type { IDToken, UserInfoResponse } from 'openid-client';

export interface Claims {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | undefined;
  /** Undefined where the provider does not say. */
  readonly isEmailVerified: boolean | undefined;
  readonly name: string | undefined;
  readonly groups: readonly string[];
  /** When they last proved themselves to the provider, where it says so. */
  readonly authenticatedAt: Date | undefined;
  /** How they did, in the provider's own words: `amr` and `acr` of the ID token, which is signed. */
  readonly authenticatedBy: readonly string[];
}

export function claimsOf(
  idToken: IDToken,
  userInfo: UserInfoResponse | undefined,
  groupsClaim: string | undefined,
): Claims {
  // An address and the word that it is confirmed come from one place: they must be about the same address.
  const mail: Readonly<Record<string, unknown>> =
    typeof idToken.email === 'string' ? idToken : (userInfo ?? {});
  const { email, email_verified: verified } = mail;
  const name = idToken.name ?? userInfo?.name;
  // The library takes an empty one: everybody whom the provider gives none would be the same person.
  if (!subject.test(idToken.sub)) throw new Error('the subject is not 1 to 255 printable characters');
  return {
    issuer: idToken.iss,
    subject: idToken.sub,
    email: isLine(email) ? email : undefined,
    isEmailVerified: typeof verified === 'boolean' ? verified : undefined,
    name: isLine(name) ? name.trim() : undefined,
    groups: groupsOf(hasGroups(idToken, groupsClaim) ? idToken : (userInfo ?? {}), groupsClaim),
    authenticatedAt: idToken.auth_time === undefined ? undefined : new Date(idToken.auth_time * 1000),
    authenticatedBy: [idToken.amr, idToken.acr].flat().filter((each) => typeof each === 'string'),
  };
}

const subject = /^[\x20-\x7e]{1,255}$/;

/** What can be stored and shown: a provider's texts are no better than a person's. */
function isLine(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 254 && /^[^\p{C}]*[^\p{C}\s][^\p{C}]*$/u.test(value);
}

/** Also where none are asked for: nothing is missing then. */
export function hasGroups(claims: object, claim: string | undefined): boolean {
  return claim === undefined || claimAt(claims, claim) !== undefined;
}

function groupsOf(claims: object, claim: string | undefined): string[] {
  const value = claim === undefined ? [] : claimAt(claims, claim);
  return [value].flat(1).filter((each) => typeof each === 'string');
}

/** A claim may have dots in its own name, as those do that are addresses; only where there is none do they lead inwards. */
function claimAt(claims: object, claim: string): unknown {
  if (Object.hasOwn(claims, claim)) return Object(claims)[claim];
  let found: unknown = claims;
  for (const part of claim.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return undefined;
    found = Object(found)[part];
  }
  return found;
}
