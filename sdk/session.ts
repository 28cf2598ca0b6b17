/**
 * A sign-in that lasts: its access token lives for minutes and is replaced by its refresh token, which works once. So
 * one refresh runs at a time, among all calls and all who share the store, and its outcome is stored before anyone uses it.
 */
import type { RefreshRequest } from './generated/schemas.ts';
import { ProblemError } from './problem.ts';

export interface Tokens {
  readonly accessToken: string;
  /** In milliseconds since 1970. */
  readonly expiresAt: number;
  /** Not where the browser has it, as a cookie that no script can read. */
  readonly refreshToken?: string | undefined;
}

/** Where tokens are kept between two runs of a program. */
export interface TokenStore {
  read(): Promise<Tokens | undefined>;
  /** Nothing, where the session has ended. */
  write(tokens: Tokens | undefined): Promise<void>;
  /** Runs the work while no other process that shares the store does. */
  alone<T>(work: () => Promise<T>): Promise<T>;
}

/** What a sign-in or a refresh answers. */
interface Issued {
  readonly accessToken: string;
  readonly expiresIn: number;
  readonly refreshToken?: string;
}

type Refresh = (body: RefreshRequest) => Promise<Issued>;

/** Replaced this long before it ends: the clocks may differ, and a request takes its time. */
const earlyMs = 30_000;

export class ClientSession {
  readonly #store: TokenStore;
  #tokens: Tokens | undefined;
  #isRead = false;
  #hasEnded = false;
  #refreshing: Promise<string | undefined> | undefined;

  /** Without a store it is that of a browser: the refresh token is a cookie, and the access token is not kept. */
  constructor(store: TokenStore = browserStore) {
    this.#store = store;
  }

  /** Takes over what `login`, `verifyOtp` or another sign-in has answered. */
  async accept(issued: Issued): Promise<void> {
    const tokens = {
      accessToken: issued.accessToken,
      expiresAt: Date.now() + issued.expiresIn * 1_000,
      refreshToken: issued.refreshToken,
    };
    await this.#store.write(tokens);
    this.#tokens = tokens;
    this.#isRead = true;
    this.#hasEnded = false;
  }

  /** Forgets the tokens; `logout` is what ends the session. */
  async clear(): Promise<void> {
    this.#tokens = undefined;
    this.#hasEnded = true;
    await this.#store.write(undefined);
  }

  /** One that can be used now; `refused` is what the service has just refused. */
  async accessToken(refresh: Refresh, refused?: string): Promise<string | undefined> {
    if (this.#hasEnded) return undefined;
    if (!this.#isRead) {
      this.#tokens = await this.#store.read();
      this.#isRead = true;
    }
    const usable = usableOf(this.#tokens, refused);
    if (usable !== undefined) return usable;
    this.#refreshing ??= this.#store
      .alone(() => this.#refresh(refresh, refused))
      .finally(() => {
        this.#refreshing = undefined;
      });
    return this.#refreshing;
  }

  async #refresh(refresh: Refresh, refused: string | undefined): Promise<string | undefined> {
    // Another process may have done it while this one waited.
    this.#tokens = (await this.#store.read()) ?? this.#tokens;
    const usable = usableOf(this.#tokens, refused);
    if (usable !== undefined) return usable;
    const refreshToken = this.#tokens?.refreshToken;
    try {
      await this.accept(await refresh(refreshToken === undefined ? {} : { refreshToken }));
    } catch (error) {
      if (!(error instanceof ProblemError) || error.code !== 'invalid_refresh_token') throw error;
      await this.clear();
    }
    return this.#tokens?.accessToken;
  }
}

function usableOf(tokens: Tokens | undefined, refused: string | undefined): string | undefined {
  if (tokens === undefined || tokens.accessToken === refused) return undefined;
  return tokens.expiresAt - earlyMs > Date.now() ? tokens.accessToken : undefined;
}

/** The cookie is shared by all tabs, and each of its values works once: they take turns where the browser can. */
const browserStore: TokenStore = {
  read: async () => undefined,
  write: async () => {},
  async alone(work) {
    const { locks } = globalThis.navigator ?? {};
    return locks ? await locks.request('slipway-refresh', work) : await work();
  },
};
