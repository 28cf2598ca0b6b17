/** Why an exchange did not come about, in words that a person can act on. */
import { errorCode, errorText, Fault } from '../../fault.ts';

/** What the caller gets: its own reason where it stopped the exchange, a fault everywhere else. */
export function whyFailed(url: URL, error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  const causes = chain(error);
  const known = causes.find((each) => each instanceof Fault);
  if (known) return known;
  const last = causes.at(-1);
  const codes = causes.flatMap((each) => errorCode(each) ?? []);
  const { sentence, hint } = inWords(url.host, codes);
  return new Fault('egress_failed', sentence, {
    hint,
    evidence: [codes.at(-1), errorText(last)].filter(Boolean).join(': '),
    cause: error,
  });
}

/** The error and those behind it; an error that joins several counts as its last one. */
function chain(error: unknown): unknown[] {
  const found: unknown[] = [];
  for (let each = error; each !== undefined && found.length < 10; ) {
    found.push(each);
    if (each instanceof AggregateError) each = each.errors.at(-1);
    else each = each instanceof Error ? each.cause : undefined;
  }
  return found;
}

function inWords(host: string, codes: readonly string[]): { sentence: string; hint: string } {
  const has = (pattern: RegExp) => codes.some((code) => pattern.test(code));
  if (has(/CERT|SELF_SIGNED|LEAF_SIGNATURE|ISSUER/))
    return {
      sentence: `The certificate of ${host} is not trusted, or belongs to another name.`,
      hint: 'Check the address. Whoever runs this instance can add a certificate authority of its own in the settings.',
    };
  if (has(/SSL|TLS|EPROTO/))
    return { sentence: `${host} does not speak TLS as it should.`, hint: 'Check the address and the port.' };
  if (has(/ECONNREFUSED/))
    return { sentence: `${host} refuses the connection.`, hint: 'Check the address and the port.' };
  if (has(/TIMEOUT|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/))
    return {
      sentence: `${host} does not answer.`,
      hint: 'Check the address, and that no firewall is in between.',
    };
  return { sentence: `The exchange with ${host} broke off.`, hint: 'Try again later.' };
}
