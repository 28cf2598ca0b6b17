/** What a check of a domain says, in a closed list of codes: each has words of its own for the person who set it up. */
export const findingCodes = {
  address_alias_broken: 'The name is an alias that leads in a circle or to a name without an address.',
  address_elsewhere: 'The name points to addresses that are not the server’s.',
  address_found: 'The name points to the server.',
  address_missing: 'The name has no address yet.',
  address_not_propagated: 'The address is right at the zone, and resolvers still remember another.',
  address_partly_elsewhere: 'The name points to the server and to other addresses as well.',
  address_private: 'The name points to an address that nobody on the internet can reach.',
  address_seen: 'The name has addresses, and there is no server to compare them with.',
  address_unreadable: 'The addresses of the name could not be asked for.',
  address_v6_elsewhere: 'The IPv4 address is the server’s, and the IPv6 address is not.',
  behind_cdn: 'The name points to a content delivery network in front of the server.',
  caa_account: 'CAA binds the authority to one account, which may not be ours.',
  caa_allows: 'CAA allows our certificate authority.',
  caa_forbids: 'CAA forbids our certificate authority.',
  caa_forbids_method: 'CAA allows our certificate authority, but not by HTTP.',
  caa_unreadable: 'CAA could not be asked for, which authorities take for a refusal.',
  dnssec_broken: 'The signatures of the zone are wrong, so that validating resolvers refuse its answers.',
  look_incomplete: 'The check took too long, or too many queries, and ended early.',
  name_server_failing: 'A name server of the zone answers with an error.',
  name_server_lame: 'A name server is named for the zone, and knows nothing of it.',
  name_server_private: 'A name server of the zone has an address that we do not connect to.',
  name_server_silent: 'A name server of the zone does not answer.',
  name_server_unknown: 'A name server of the zone has no address.',
  no_such_domain: 'The domain does not exist.',
  record_alias: 'A CNAME stands where the record should be.',
  record_found: 'The record is there, with the right value.',
  record_missing: 'The zone exists, and the record is not in it.',
  record_not_propagated: 'The record is at the zone’s own servers, and not yet at all resolvers.',
  record_wrong: 'The record is there, with another value.',
  resolvers_failing: 'Resolvers that this instance uses do not answer.',
  servers_disagree: 'The name servers of the zone do not all say the same.',
  zone_unknown: 'The zone of the name could not be found.',
} as const;

export type FindingCode = keyof typeof findingCodes;
export type Severity = 'ok' | 'info' | 'warning' | 'error';

export interface Finding {
  readonly code: FindingCode;
  readonly severity: Severity;
  /** A sentence for a person. */
  readonly message: string;
  /** What to do; absent where nothing is to be done. */
  readonly hint?: string | undefined;
  /** What was seen, a line each. */
  readonly evidence?: string | undefined;
}

const mostShown = 10;
const longestShown = 160;

/** Texts of strangers, short and on one line: what steers a terminal or turns the direction of writing is made visible. */
export function shown(text: string): string {
  const cut = text.length > longestShown ? `${text.slice(0, longestShown)}…` : text;
  return cut.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not get through.
    /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

export function listed(texts: readonly string[], between = ', '): string {
  const more = texts.length - mostShown;
  const first = texts.slice(0, mostShown).map(shown);
  return more > 0 ? `${first.join(between)}${between}and ${more} more` : first.join(between);
}

/** Seconds as a person says them. */
export function howLong(seconds: number): string {
  const [count, unit] =
    seconds < 120
      ? [seconds, 'second']
      : seconds < 7_200
        ? [Math.round(seconds / 60), 'minute']
        : seconds < 172_800
          ? [Math.round(seconds / 3_600), 'hour']
          : [Math.round(seconds / 86_400), 'day'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
