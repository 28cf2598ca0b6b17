/**
 * One POST to a receiver, and what came of it: taken, refused for now or for good, or nobody knows. Follows no redirect.
 */
import { errorCode, errorText, Fault } from '../../fault.ts';
import type { Sent, Transports } from './connector.ts';
import { fit, oneLine } from './fit-text.ts';

/** A receiver that needs longer has other troubles; nobody else may send by the connector meanwhile. */
export const sendLimitMs = 15_000;
const longestAnswer = 64 * 1024;
const longestDetail = 500;
const longestWaitMs = 60 * 60_000;

export interface Post {
  readonly url: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What a vendor says in its body, beyond the status. */
  readonly read?: (answer: {
    readonly status: number;
    readonly text: string;
  }) => Partial<Refused> | undefined;
}

export interface Refused {
  readonly isFinal: boolean;
  readonly retryAfterMs: number;
  readonly detail: string;
}

export async function postJson(transports: Transports, post: Post, signal: AbortSignal): Promise<Sent> {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/plain',
    ...post.headers,
  };
  try {
    const response = await transports.fetch(post.url, {
      method: 'POST',
      headers,
      body: post.body,
      signal,
      headersTimeoutMs: sendLimitMs,
      bodyTimeoutMs: 5_000,
      maxBodyBytes: longestAnswer,
    });
    // The status is the answer; a body that breaks off takes nothing away from it.
    const text = await response
      .text()
      .catch((error: unknown) => `(its answer broke off: ${errorText(error)})`);
    return judge(post, response, text, transports.now());
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return withoutAnswer(error);
  }
}

function judge(post: Post, { status, headers }: Response, text: string, now: Date): Sent {
  const said = fit(oneLine(text), longestDetail);
  const own = post.read?.({ status, text });
  if (status >= 300 && status < 400) {
    const detail = `It redirects${placeOf(headers.get('location'), post.url)}, and redirects are not followed.`;
    return { outcome: 'refused', isFinal: true, status, detail };
  }
  const detail = own?.detail ?? (said === '' ? `It answered ${status}.` : `It answered ${status}: ${said}`);
  if (status < 300 && own?.isFinal === undefined) return { outcome: 'delivered', status, detail };
  const retryAfterMs = own?.retryAfterMs ?? retryAfter(headers.get('retry-after'), now);
  const isFinal = own?.isFinal ?? isHopeless(status);
  return {
    outcome: 'refused',
    isFinal,
    status,
    detail,
    ...(retryAfterMs !== undefined && { retryAfterMs: Math.min(retryAfterMs, longestWaitMs) }),
  };
}

/** What asking again the same way cannot change. */
function isHopeless(status: number): boolean {
  return status >= 400 && status < 500 && ![408, 421, 423, 425, 429].includes(status);
}

/** In seconds, or as a date. */
export function retryAfter(header: string | null, now: Date): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}(\.\d+)?$/.test(header.trim())) return Math.ceil(Number(header) * 1000);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime());
}

/** Without query: it may hold what nobody should see. */
function placeOf(location: string | null, from: string): string {
  const target = location === null ? null : URL.parse(location, from);
  return target ? ` to ${target.origin === 'null' ? target.protocol : target.origin}` : '';
}

/** Failures of the way there: the request has certainly not arrived. */
const unsentCodes =
  /^(ECONNREFUSED|ENOTFOUND|ENODATA|ESERVFAIL|EAI_\w+|ETIMEOUT|UND_ERR_CONNECT_TIMEOUT|EHOSTUNREACH|ENETUNREACH|.*CERT.*|.*SELF_SIGNED.*|.*LEAF_SIGNATURE.*|.*ISSUER.*|ERR_SSL_.*|ERR_TLS_.*|EPROTO)$/;

function withoutAnswer(fault: Fault): Sent {
  const detail = fit(oneLine([fault.message, fault.evidence].filter(Boolean).join(' ')), longestDetail);
  // Ports that no program speaks HTTP on are refused before anything is sent.
  const isBadPort = fault.evidence?.includes('bad port') === true;
  if (fault.code === 'egress_refused' || isBadPort)
    return { outcome: 'refused', isFinal: true, status: null, detail };
  const isUnsent =
    fault.code === 'shutting_down' ||
    codesBehind(fault).some((code) => unsentCodes.test(code)) ||
    fault.message.startsWith('The name ');
  if (isUnsent) return { outcome: 'refused', isFinal: false, status: null, detail };
  return { outcome: 'unknown', status: null, detail };
}

function codesBehind(error: unknown): string[] {
  const codes: string[] = [];
  for (let each = error, depth = 0; each !== undefined && depth < 10; depth += 1) {
    codes.push(errorCode(each) ?? '');
    if (each instanceof AggregateError) each = each.errors.at(-1);
    else each = each instanceof Error ? each.cause : undefined;
  }
  return codes;
}
