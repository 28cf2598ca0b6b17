/**
 * OpenID Connect providers for tests, on loopback: a real one, which signs in whom the test names, and one that lies, whose
 * ID tokens are whatever the test makes of them. And a browser, which keeps cookies and goes where it is sent.
 */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { Provider } from 'oidc-provider';

export const client = { id: 'slipway', secret: 'a secret of the client, 32 letters' } as const;
const callback = '/api/v1/auth/oidc/callback';

export type ProviderClaims = Readonly<Record<string, unknown>> & { readonly sub: string };

async function newKey(kid: string) {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const about = { kid, alg: 'ES256', use: 'sig' };
  return {
    kid,
    privateKey,
    privateJwk: { ...(await exportJWK(privateKey)), ...about },
    publicJwk: { ...(await exportJWK(publicKey)), ...about },
  };
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

export function settingsFor(issuer: string, more: Record<string, string> = {}): Record<string, string> {
  return {
    SLIPWAY_OIDC_ISSUER: issuer,
    SLIPWAY_OIDC_CLIENT_ID: client.id,
    SLIPWAY_OIDC_CLIENT_SECRET: client.secret,
    SLIPWAY_OIDC_NAME: 'Example SSO',
    SLIPWAY_OIDC_SCOPES: 'openid email profile groups',
    ...more,
  };
}

export class RealProvider {
  readonly #server: Server;
  readonly issuer: string;
  #handle: ((request: IncomingMessage, response: ServerResponse) => unknown) | undefined;
  #slipwayUrl = '';
  #rotations = 0;
  /** Who signs in next. */
  person: ProviderClaims = { sub: 'nobody' };
  /** What the next sign-in ends with instead. */
  refusal: string | undefined;
  readonly #people = new Map<string, ProviderClaims>();

  private constructor(server: Server, issuer: string) {
    this.#server = server;
    this.issuer = issuer;
  }

  static async start(): Promise<RealProvider> {
    const server = createServer((request, response) => made.#handle?.(request, response));
    const made = new RealProvider(server, await listening(server));
    return made;
  }

  stop(): Promise<void> {
    return closed(this.#server);
  }

  /** From now on with new keys, as after a rotation; the old ones are gone. */
  async serve(slipwayUrl = this.#slipwayUrl): Promise<void> {
    this.#slipwayUrl = slipwayUrl;
    this.#rotations += 1;
    const key = await newKey(`key-${this.#rotations}`);
    const provider = new Provider(this.issuer, {
      clients: [
        {
          client_id: client.id,
          client_secret: client.secret,
          redirect_uris: [`${slipwayUrl}${callback}`],
          id_token_signed_response_alg: 'ES256',
        },
      ],
      jwks: { keys: [key.privateJwk] },
      cookies: { keys: ['only for tests'] },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
      scopes: ['openid', 'email', 'profile', 'groups'],
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
      ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
      findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ ...this.#people.get(sub), sub }) }),
      loadExistingGrant: async ({ oidc }) => {
        const grant = new oidc.provider.Grant({
          clientId: client.id,
          accountId: oidc.session?.accountId ?? '',
        });
        grant.addOIDCScope('openid email profile groups');
        await grant.save();
        return grant;
      },
    });
    const answer = provider.callback();
    this.#handle = (request, response) => {
      if (!request.url?.startsWith('/interaction/')) return answer(request, response);
      const { person, refusal } = this;
      this.#people.set(person.sub, person);
      const result = refusal ? { error: refusal } : { login: { accountId: person.sub } };
      return provider.interactionFinished(request, response, result);
    };
  }
}

/** Whoever holds the client's address there: everything it answers is what the test wants. */
export class LyingProvider {
  readonly #server: Server;
  readonly issuer: string;
  /** Of the metadata, over what would be right. */
  metadata: Readonly<Record<string, unknown>> = {};
  /** What the token endpoint gives next; it is handed what would be right. */
  idToken: (right: JWTPayload) => Promise<string> | string = (right) => this.sign(right);
  /** How often a code was traded in. */
  trades = 0;
  nonce = '';
  subject = 'liar';
  email = 'liar@example.com';
  key: Awaited<ReturnType<typeof newKey>>;

  private constructor(server: Server, issuer: string, key: LyingProvider['key']) {
    this.#server = server;
    this.issuer = issuer;
    this.key = key;
  }

  static async start(): Promise<LyingProvider> {
    const server = createServer((request, response) => void made.#answer(request, response));
    const made = new LyingProvider(server, await listening(server), await newKey('one'));
    return made;
  }

  stop(): Promise<void> {
    return closed(this.#server);
  }

  async rotate(): Promise<void> {
    this.key = await newKey(`${this.key.kid}+`);
  }

  sign(payload: JWTPayload, header: { readonly kid?: string; readonly by?: LyingProvider['key'] } = {}) {
    const { by = this.key, kid = by.kid } = header;
    return new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid }).sign(by.privateKey);
  }

  static newKey = newKey;

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { issuer } = this;
    const path = new URL(request.url ?? '/', issuer).pathname;
    const send = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (path === '/.well-known/openid-configuration')
      return send(200, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['ES256'],
        authorization_response_iss_parameter_supported: true,
        ...this.metadata,
      });
    if (path === '/jwks') return send(200, { keys: [this.key.publicJwk] });
    if (path !== '/token') return send(404, {});
    this.trades += 1;
    const now = Math.floor(Date.now() / 1000);
    const right = {
      iss: issuer,
      sub: this.subject,
      aud: client.id,
      iat: now,
      exp: now + 300,
      nonce: this.nonce,
      email: this.email,
      email_verified: true,
      groups: [],
    };
    const token = { access_token: 'access', token_type: 'Bearer', expires_in: 300 };
    send(200, { ...token, id_token: await this.idToken(right) });
  }
}

export interface Page {
  readonly status: number;
  readonly address: URL;
  readonly headers: Headers;
  readonly text: string;
}

export class Browser {
  readonly cookies = new Map<string, Map<string, string>>();

  async get(address: string | URL, accept = 'text/html'): Promise<Page> {
    const url = new URL(address);
    const jar = this.cookies.get(url.origin) ?? new Map<string, string>();
    this.cookies.set(url.origin, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(url, { redirect: 'manual', headers: { cookie, accept } });
    for (const line of answer.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      const [name = '', ...value] = pair.split('=');
      if (/max-age=0|expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(name);
      else jar.set(name, value.join('='));
    }
    return { status: answer.status, address: url, headers: answer.headers, text: await answer.text() };
  }

  /** Until nothing sends it on, or it is sent to where the test stops it. */
  async go(address: string | URL, stopAt: (url: URL) => boolean = () => false): Promise<Page> {
    let page = await this.get(address);
    for (let hops = 0; page.headers.has('location'); hops += 1) {
      assert.ok(hops < 12, `sent on and on, to ${page.headers.get('location')}`);
      const next = new URL(page.headers.get('location') ?? '', page.address);
      if (stopAt(next)) return { ...page, address: next };
      page = await this.get(next);
    }
    return page;
  }
}
