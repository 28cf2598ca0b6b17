/** An authority on loopback that keeps to the protocol, until a test has it misbehave at one of its addresses. */
import { createPublicKey, type JsonWebKeyInput, verify } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';

type Place =
  | 'dir'
  | 'nonce'
  | 'account'
  | 'order'
  | 'authz'
  | 'challenge'
  | 'finalize'
  | 'certificate'
  | 'revoke';

export interface Asked {
  readonly place: Place;
  readonly name: string;
  readonly header: Readonly<Record<string, unknown>>;
  /** `undefined` where it only asks to read. */
  readonly payload: Readonly<Record<string, unknown>> | undefined;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Never answers. */
  readonly isSilent?: boolean;
}

type Misbehave = (asked: Asked, times: number) => Reply | undefined;

export class TestAuthority {
  readonly asked: Asked[] = [];
  readonly misbehave = new Map<Place, Misbehave>();
  /** Set by a test: makes the chain from the request. */
  issue: (csr: Buffer, names: readonly string[]) => string = () => '';
  directory: Record<string, unknown> = {};
  directoryUrl = '';
  #base = '';
  #names: readonly string[] = [];
  #answered = new Set<string>();
  #chain = '';
  #key: JsonWebKeyInput['key'] = {};
  #nonces = new Set<string>();
  #times = new Map<Place, number>();

  static async start(t: TestContext): Promise<TestAuthority> {
    const authority = new TestAuthority();
    const server = createServer((request, response) => authority.#serve(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => {
      server.closeAllConnections();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    });
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the server has no port');
    const base = `http://127.0.0.1:${address.port}`;
    authority.#base = base;
    authority.directoryUrl = `${base}/dir`;
    authority.directory = {
      newNonce: `${base}/nonce`,
      newAccount: `${base}/account`,
      newOrder: `${base}/order`,
      revokeCert: `${base}/revoke`,
      renewalInfo: `${base}/ari`,
    };
    return authority;
  }

  count(place: Place): number {
    return this.asked.filter((each) => each.place === place).length;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const [, place, name = ''] = (request.url ?? '').split('/');
    const asked = this.#read(place as Place, name, Buffer.concat(chunks).toString());
    this.asked.push(asked);
    const times = (this.#times.get(asked.place) ?? 0) + 1;
    this.#times.set(asked.place, times);
    const reply = this.misbehave.get(asked.place)?.(asked, times) ?? this.#answer(asked);
    if (reply.isSilent) return;
    const nonce = `nonce-${Math.random().toString(36).slice(2)}`;
    this.#nonces.add(nonce);
    response.writeHead(reply.status ?? 200, {
      ...(asked.place !== 'dir' && { 'replay-nonce': nonce }),
      ...reply.headers,
    });
    const { body = '' } = reply;
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }

  /** Every signature is checked with the key that came with the account. */
  #read(place: Place, name: string, text: string): Asked {
    if (text === '') return { place, name, header: {}, payload: undefined };
    const sent = JSON.parse(text);
    const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
    const header = decode(sent.protected);
    if (header.jwk) this.#key = header.jwk;
    const key = {
      key: createPublicKey({ key: this.#key, format: 'jwk' }),
      dsaEncoding: 'ieee-p1363',
    } as const;
    const input = Buffer.from(`${sent.protected}.${sent.payload}`);
    if (!verify('sha256', input, key, Buffer.from(sent.signature, 'base64url')))
      throw new Error('bad signature');
    return { place, name, header, payload: sent.payload === '' ? undefined : decode(sent.payload) };
  }

  #answer({ place, name, header, payload }: Asked): Reply {
    if (place === 'dir') return { body: this.directory };
    if (place === 'nonce') return {};
    if (!this.#nonces.delete(String(header.nonce))) return badNonce;
    if (place === 'account')
      return { status: 201, headers: { location: `${this.#base}/account/1` }, body: {} };
    if (place === 'revoke') return {};
    if (place === 'order' && payload) {
      this.#chain = '';
      this.#names = (payload.identifiers as { value: string }[]).map(({ value }) => value);
      return { status: 201, headers: { location: `${this.#base}/order/1` }, body: this.order('pending') };
    }
    if (place === 'order') return { body: this.order(this.#state()) };
    if (place === 'authz')
      return { body: this.authorization(name, this.#answered.has(name) ? 'valid' : 'pending') };
    if (place === 'challenge') {
      this.#answered.add(name);
      return { body: { type: 'http-01', status: 'processing', url: `${this.#base}/challenge/${name}` } };
    }
    if (place === 'finalize') {
      this.#chain = this.issue(Buffer.from(String(payload?.csr), 'base64url'), this.#names);
      return { body: this.order('processing') };
    }
    return { body: this.#chain };
  }

  #state(): string {
    if (this.#chain !== '') return 'valid';
    return this.#names.every((name) => this.#answered.has(name)) ? 'ready' : 'pending';
  }

  order(status: string, more: object = {}): object {
    const authorizations = this.#names.map((name) => `${this.#base}/authz/${name}`);
    const certificate = status === 'valid' ? { certificate: `${this.#base}/certificate` } : {};
    return { status, authorizations, finalize: `${this.#base}/finalize`, ...certificate, ...more };
  }

  authorization(name: string, status: string, more: object = {}): object {
    const token = `token-of-${name.replaceAll('.', '-')}-0123456789`;
    const challenge = { type: 'http-01', url: `${this.#base}/challenge/${name}`, token, ...more };
    return { status, identifier: { type: 'dns', value: name }, challenges: [{ type: 'dns-01' }, challenge] };
  }
}

export const problem = (type: string, detail: string, more: object = {}) => ({
  type: `urn:ietf:params:acme:error:${type}`,
  detail,
  ...more,
});

export const badNonce: Reply = { status: 400, body: problem('badNonce', 'stale') };
