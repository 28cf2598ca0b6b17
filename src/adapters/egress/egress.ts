/**
 * The one way out to addresses that users name. Owns the check of where a name leads, and connects to exactly the
 * address that was checked, with TLS held against the name. Refuses what is not on the internet unless this instance
 * allows its own network, follows no redirect, and ends what is too slow or too large.
 */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { getCACertificates } from 'node:tls';
import type { buildConnector } from 'undici';
import { errorText, Fault } from '../../fault.ts';
import type { OutboundRequest } from '../../outbound-fetch.ts';
import { type CheckedAddress, createGuard, type Lookup, lookupAt, systemLookup } from './address-guard.ts';
import { limitBody, startTimeLimits, tooLarge } from './answer-limits.ts';
import { whyFailed } from './why-failed.ts';

export type { CheckedAddress } from './address-guard.ts';

export interface EgressOptions {
  /** Whether addresses of loopback and of private networks may be connected to. */
  readonly allowPrivate: boolean;
  /** The one place that may be there all the same, where whoever runs the service has chosen it: scheme, name and port. */
  readonly privateOrigin?: string;
  /** Absent: the machine's own. */
  readonly dnsServers?: readonly string[];
  /** Certificates in PEM that are trusted beside the usual ones. */
  readonly caFile?: string;
}

export interface Egress {
  /** The answer, whatever its status; its body fails as a fault when it is too large or too slow. */
  fetch(url: string | URL, request?: OutboundRequest): Promise<Response>;
  /** The addresses of a name, checked, for those who connect by other means. */
  resolve(hostname: string): Promise<readonly CheckedAddress[]>;
  close(): Promise<void>;
}

export type Dial = (
  options: buildConnector.Options,
  addresses: readonly CheckedAddress[],
  callback: buildConnector.Callback,
) => void;

/** What tests put in the place of the network. */
export interface EgressParts {
  readonly lookup?: Lookup;
  readonly dial?: Dial;
  readonly connectTimeoutMs?: number;
}

const connectTimeoutMs = 10_000;
const headersTimeoutMs = 20_000;
const bodyTimeoutMs = 60_000;
const maxBodyBytes = 8 * 1024 * 1024;
const connectionsPerOrigin = 16;

export function createEgress(options: EgressOptions, parts: EgressParts = {}): Egress {
  const lookup = parts.lookup ?? (options.dnsServers?.length ? lookupAt(options.dnsServers) : systemLookup);
  const guard = createGuard(options.allowPrivate, lookup);
  const chosenGuard = createGuard(true, lookup);
  const chosen = options.privateOrigin === undefined ? undefined : new URL(options.privateOrigin);
  const guardFor = ({ protocol, hostname, port }: buildConnector.Options) => {
    const isChosen =
      chosen?.protocol === protocol && bare(chosen.hostname) === bare(hostname) && chosen.port === port;
    return isChosen ? chosenGuard : guard;
  };
  const ca = options.caFile === undefined ? undefined : trusted(options.caFile);
  let opened: ReturnType<typeof open> | undefined;
  let isClosed = false;

  async function open() {
    // Loaded with the first request: it costs a start more than most of our own code.
    const { Agent, buildConnector, fetch } = await import('undici');
    const dial: Dial = (target, addresses, callback) =>
      buildConnector({
        ...(ca && { ca }),
        allowH2: false,
        maxCachedSessions: 0,
        timeout: parts.connectTimeoutMs ?? connectTimeoutMs,
        // Asked by Node where the host is a name, and answered with what was checked.
        lookup: (_name, { all }, answer) => {
          const [first] = addresses;
          if (all) answer(null, [...addresses]);
          else answer(null, first?.address ?? '', first?.family);
        },
      })(target, callback);
    const connect: buildConnector.connector = (target, callback) => {
      // The name of the certificate is that of the address, whatever a `Host` header may say.
      const servername = isIP(target.hostname) ? '' : target.hostname.replace(/\.$/, '');
      guardFor(target)(target.hostname).then(
        (addresses) => (parts.dial ?? dial)({ ...target, servername }, addresses, callback),
        (error: unknown) => callback(error instanceof Error ? error : new Error(errorText(error)), null),
      );
    };
    const timeouts = { headersTimeout: 0, bodyTimeout: 0 };
    const agent = new Agent({ connect, connections: connectionsPerOrigin, ...timeouts });
    return { agent, fetch };
  }

  return {
    async fetch(address, request = {}) {
      const url = checkedUrl(address);
      if (isClosed) throw new Fault('shutting_down', 'The service is stopping.');
      opened ??= open();
      const { agent, fetch } = await opened;
      const times = {
        headersMs: request.headersTimeoutMs ?? headersTimeoutMs,
        bodyMs: request.bodyTimeoutMs ?? bodyTimeoutMs,
      };
      const limits = startTimeLimits(url.host, times, request.signal ?? undefined);
      const explain = (error: unknown) => whyFailed(url, error, limits.signal);
      const most = request.maxBodyBytes ?? maxBodyBytes;
      try {
        const answer = await fetch(url, {
          method: request.method ?? 'GET',
          headers: { 'user-agent': 'Slipway', ...request.headers },
          body: request.body ?? null,
          duplex: 'half',
          redirect: 'manual',
          signal: limits.signal,
          dispatcher: agent,
        });
        limits.headersCame();
        if (answer.status < 200 || answer.status > 599) throw new Error(`its status is ${answer.status}`);
        if (answer.body === null) limits.done();
        else if (Number(answer.headers.get('content-length') ?? 0) > most) throw tooLarge(url.host, most);
        const limit = { host: url.host, maxBytes: most, limits, explain };
        const body = answer.body === null ? null : limitBody(answer.body, limit);
        return new Response(body, { status: answer.status, headers: [...answer.headers] });
      } catch (error) {
        limits.done();
        const why = explain(error);
        limits.stop(why);
        throw why;
      }
    },
    resolve: guard,
    async close() {
      isClosed = true;
      const { agent } = (await opened) ?? {};
      await agent?.destroy();
    },
  };
}

function bare(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

function checkedUrl(address: string | URL): URL {
  const url = URL.parse(String(address));
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.hostname === '')
    throw new Fault('egress_refused', 'The address is not one of http or https.', {
      hint: 'Give an address such as https://git.example.com.',
    });
  if (url.username !== '' || url.password !== '')
    throw new Fault('egress_refused', `The address of ${url.host} carries a user name or a password.`, {
      hint: 'Leave them out of the address; there are fields for them.',
    });
  return url;
}

function trusted(caFile: string): string[] {
  try {
    return [...getCACertificates('default'), readFileSync(caFile, 'utf8')];
  } catch (error) {
    throw new Fault('wrong_setting', `The certificates in ${caFile} cannot be read: ${errorText(error)}.`);
  }
}
