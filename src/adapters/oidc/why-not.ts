/** Why a sign-in at a provider came to nothing, in words for whoever signs in and evidence for whoever runs the service. */
import { errorCode, errorText, Fault } from '../../fault.ts';

/** That somebody else has to mend: the provider, or the settings that name it. Everything else is an answer not to trust. */
const outOfOrder: ReadonlySet<string> = new Set([
  ...['OAUTH_TIMEOUT', 'OAUTH_ABORT', 'OAUTH_PARSE_ERROR', 'OAUTH_RESPONSE_IS_NOT_CONFORM'],
  ...['OAUTH_RESPONSE_IS_NOT_JSON', 'OAUTH_HTTP_REQUEST_FORBIDDEN', 'OAUTH_REQUEST_PROTOCOL_FORBIDDEN'],
  ...[
    'OAUTH_MISSING_SERVER_METADATA',
    'OAUTH_INVALID_SERVER_METADATA',
    'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  ],
  'OAUTH_WWW_AUTHENTICATE_CHALLENGE',
]);

export function whyNot(error: unknown, issuer: string): Fault {
  const causes = chain(error);
  const egress = causes.find((each) => each instanceof Fault);
  const code = errorCode(error) ?? '';
  const said = saidBy(error);
  const evidence = [code, said, ...causes.map(errorText)].filter(Boolean).join(': ');
  const host = new URL(issuer).host;
  if (egress)
    return new Fault('oidc_failed', `The provider at ${host} cannot be asked. ${egress.message}`, {
      hint: 'Try again in a moment. If it stays, whoever runs this instance checks SLIPWAY_OIDC_ISSUER and the provider.',
      evidence: egress.evidence ?? evidence,
      cause: error,
    });
  if (code === 'OAUTH_AUTHORIZATION_RESPONSE_ERROR')
    return new Fault(
      'oidc_denied',
      `The provider at ${host} did not sign you in: ${said ?? 'it does not say why'}.`,
      {
        hint: 'Sign in again, and agree there; or ask whoever looks after the provider whether you may.',
        evidence,
        cause: error,
      },
    );
  if (code === 'OAUTH_RESPONSE_BODY_ERROR' && said === 'invalid_grant')
    return new Fault(
      'oidc_untrusted',
      `The provider at ${host} does not know this sign-in, or it was used before.`,
      {
        evidence,
        cause: error,
      },
    );
  if (outOfOrder.has(code) || code === 'OAUTH_RESPONSE_BODY_ERROR')
    return new Fault(
      'oidc_failed',
      `The provider at ${host} does not answer as one does${said ? ` (${said})` : ''}.`,
      {
        hint: 'Whoever runs this instance checks the settings SLIPWAY_OIDC_* and the client at the provider; the log has more.',
        evidence,
        cause: error,
      },
    );
  return new Fault(
    'oidc_untrusted',
    `What came back from ${host} cannot be trusted, and nobody was signed in.`,
    {
      evidence,
      cause: error,
    },
  );
}

/** The code that the provider gave: a word of the protocol. Its own sentences are not shown: others may have written them. */
function saidBy(error: unknown): string | undefined {
  const { error: said } = Object(error);
  return typeof said === 'string' && /^[\w.-]{1,60}$/.test(said) ? said : undefined;
}

function chain(error: unknown): unknown[] {
  const found: unknown[] = [];
  for (let each = error; each instanceof Error && found.length < 10; each = each.cause) found.push(each);
  return found;
}
