/**
 * An OpenID Connect provider, as its client: the authorization code flow with PKCE, every check that the specification
 * knows, and the signature of the ID token too, though TLS alone would be allowed to stand for it. Nothing of what the
 * provider says is believed before all of that has passed. Refuses with a fault, and never waits longer than its limits.
 */
import type * as openid from 'openid-client';
import type { Clock } from '../../clock.ts';
import { minute, second } from '../../clock.ts';
import { once } from '../../once.ts';
import type { OutboundFetch } from '../../outbound-fetch.ts';
import type { Secret } from '../../secret.ts';
import { type Claims, claimsOf, hasGroups } from './claims.ts';
import { whyNot } from './why-not.ts';

export type { Claims } from './claims.ts';

export interface OidcOptions {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: Secret | undefined;
  readonly scopes: string;
  /** Undefined where nobody asks for groups. */
  readonly groupsClaim: string | undefined;
  readonly fetch: OutboundFetch;
  readonly clock: Clock;
  /** For each request to the provider. */
  readonly timeoutMs?: number;
}

/** What one sign-in is bound to: each is known to the browser that began it alone. */
export interface Binding {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

export interface OidcProvider {
  /** Where the browser is sent. With `again`, the provider is asked to have the person prove themselves anew. */
  authorizationUrl(binding: Binding, redirectUri: string, again: boolean): Promise<string>;
  /** From the address that the browser came back to, to who it is. */
  exchange(cameBackTo: URL, binding: Binding, again: boolean): Promise<Claims>;
}

// Loaded with the first sign-in: a start has no need of it.
const library = once(() => import('openid-client'));

const metadataMs = 5 * minute;
const mostBytes = 1024 * 1024;
/** How long ago somebody may have proven themselves who was asked to do so anew. */
const againSeconds = 120;

export function createOidcProvider(options: OidcOptions): OidcProvider {
  const { issuer, clientId, clientSecret, scopes, groupsClaim, clock } = options;
  const timeoutMs = options.timeoutMs ?? 10 * second;
  const isPlain = issuer.startsWith('http:');
  let known: { readonly until: number; readonly metadata: Promise<openid.ServerMetadata> } | undefined;

  const fetch: openid.CustomFetch = (url, { method, headers, body, signal }) =>
    options.fetch(url, {
      method,
      headers,
      body: body instanceof URLSearchParams ? body.toString() : null,
      signal: signal ?? null,
      headersTimeoutMs: timeoutMs,
      bodyTimeoutMs: timeoutMs,
      maxBodyBytes: mostBytes,
    });

  async function discover(): Promise<openid.ServerMetadata> {
    const client = await library();
    const found = await client.discovery(new URL(issuer), clientId, undefined, client.None(), {
      [client.customFetch]: fetch,
      timeout: timeoutMs / second,
      // Only where the settings name plain http, which they may for this machine alone.
      ...(isPlain && { execute: [client.allowInsecureRequests] }),
    });
    return found.serverMetadata();
  }

  async function metadata(): Promise<openid.ServerMetadata> {
    const now = clock.now().getTime();
    if (!known || known.until <= now) known = { until: now + metadataMs, metadata: discover() };
    const asked = known;
    try {
      return await asked.metadata;
    } catch (error) {
      if (known === asked) known = undefined;
      throw error;
    }
  }

  /** New for each sign-in, and the provider's keys with it: they may have been rotated a second ago. */
  async function configuration() {
    const client = await library();
    const server = await metadata();
    const config = new client.Configuration(server, clientId, {}, authentication(client, server));
    config[client.customFetch] = fetch;
    config.timeout = timeoutMs / second;
    client.enableNonRepudiationChecks(config);
    if (isPlain) client.allowInsecureRequests(config);
    return { client, config };
  }

  function authentication(
    client: typeof openid,
    { token_endpoint_auth_methods_supported: methods }: openid.ServerMetadata,
  ) {
    if (clientSecret === undefined) return client.None();
    const secret = clientSecret.reveal();
    const takesBasic = methods === undefined || methods.includes('client_secret_basic');
    return takesBasic ? client.ClientSecretBasic(secret) : client.ClientSecretPost(secret);
  }

  return {
    async authorizationUrl({ state, nonce, verifier }, redirectUri, again) {
      try {
        const { client, config } = await configuration();
        const url = client.buildAuthorizationUrl(config, {
          redirect_uri: redirectUri,
          scope: scopes,
          state,
          nonce,
          code_challenge: await client.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
          ...(again && { prompt: 'login', max_age: '0' }),
        });
        if (url.protocol !== 'https:' && !isPlain) throw new Error('its authorization endpoint is not https');
        return url.href;
      } catch (error) {
        throw whyNot(error, issuer);
      }
    },
    async exchange(cameBackTo, { state, nonce, verifier }, again) {
      try {
        const { client, config } = await configuration();
        const tokens = await client.authorizationCodeGrant(config, cameBackTo, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
          ...(again && { maxAge: againSeconds }),
        });
        const idToken = tokens.claims();
        if (!idToken) throw new Error('the answer has no ID token');
        const isWhole = typeof idToken.email === 'string' && hasGroups(idToken, groupsClaim);
        const userInfo =
          isWhole || config.serverMetadata().userinfo_endpoint === undefined
            ? undefined
            : await client.fetchUserInfo(config, tokens.access_token, idToken.sub);
        return claimsOf(idToken, userInfo, groupsClaim);
      } catch (error) {
        throw whyNot(error, issuer);
      }
    },
  };
}
