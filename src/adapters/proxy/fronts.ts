/**
 * Applications behind the proxy: one front each, with a section and a file of its own. What is wanted is written to the
 * file first, then the running proxy is brought there by its runtime socket; so a proxy that is started again, at any
 * instant, comes up with what was last wanted. Only a new listener needs a reload, which breaks no connection.
 */
import type { EnvironmentId } from '../../ids.ts';
import type { Fence, Remote } from '../../remote/remote.ts';

export interface ProxyServer {
  /** The container's name: unique, made of ids. */
  readonly name: string;
  readonly address: string;
  readonly port: number;
}

export interface ProxyRoute {
  /** A name in A-labels, or `*.` and one: any single label in its place. An exact name goes before it. */
  readonly host: string;
  /** A certificate is installed for it. */
  readonly tls: boolean;
  /** Requests without TLS are sent to it, but for those of the certificate authority; only where there is `tls`. */
  readonly redirectHttp: boolean;
  /** What `Strict-Transport-Security` says under TLS; null: what the application says stands. */
  readonly hstsSeconds: number | null;
  /** Another name, which gets all requests to this one, with path and query. */
  readonly redirectTo: string | null;
}

export interface ProxyFront {
  readonly id: EnvironmentId;
  /** Its own listener, on all addresses of the server. */
  readonly port: number;
  /** Names that lead to it on ports 80 and 443. */
  readonly hosts: readonly string[];
  /** More names, or some of them, with what is done with requests to them. */
  readonly routes?: readonly ProxyRoute[];
  /** Who gets requests. None: it is stopped, and answers 503 with Retry-After. */
  readonly servers: readonly ProxyServer[];
  /** How long a request waits where nobody can take it for now. */
  readonly holdSeconds: number;
  /** Its servers are on several machines: who does not take connections any more gets no requests. */
  readonly isChecked?: boolean;
}

export interface ProxyWork {
  readonly remote: Remote;
  readonly fence: Fence;
  readonly signal: AbortSignal;
}
