/**
 * Our cookies. Over https their names begin with `__Host-`: a browser takes such a one from this very host alone, so no
 * other name below the same domain (an app that was deployed there, say) can put one of its own in its place. That asks
 * for `Path=/` and no `Domain`. Over plain http, on one's own machine, browsers refuse the prefix.
 */
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';

const prefix = '__Host-';

export interface Cookie {
  readonly name: string;
  /** Where it is sent to, over plain http. */
  readonly path: string;
  /** `lax` for what has to come along when another site sends the browser here; absent: `strict`. */
  readonly sameSite?: 'lax' | 'strict';
}

/** `own` is false for one that came under the plain name over https: any host of the domain can have set it. */
export interface ReadCookie {
  readonly value: string;
  readonly own: boolean;
}

export function readCookie(
  request: FastifyRequest,
  { name }: Cookie,
  isSecure: boolean,
): ReadCookie | undefined {
  const given = parseCookie(request.headers.cookie ?? '');
  const prefixed = isSecure ? given[`${prefix}${name}`] : undefined;
  if (prefixed !== undefined) return { value: prefixed, own: true };
  const plain = given[name];
  return plain === undefined ? undefined : { value: plain, own: !isSecure };
}

/** Sets it under its name; one under the plain name that came along over https is taken back. */
export function setCookie(
  reply: FastifyReply,
  { name, path, sameSite = 'strict' }: Cookie,
  content: { readonly value: string; readonly maxAgeMs: number },
  isSecure: boolean,
): void {
  const set = (cookieName: string, cookiePath: string, value: string, maxAgeMs: number) => {
    const attributes = { httpOnly: true, secure: isSecure, sameSite } as const;
    const cookie = { name: cookieName, value, path: cookiePath, maxAge: maxAgeMs / 1000, ...attributes };
    reply.header('set-cookie', stringifySetCookie(cookie));
  };
  set(isSecure ? `${prefix}${name}` : name, isSecure ? '/' : path, content.value, content.maxAgeMs);
  const cameAlong = parseCookie(reply.request.headers.cookie ?? '')[name] !== undefined;
  if (isSecure && cameAlong) set(name, path, '', 0);
}

export const deviceCookie: Cookie = { name: 'slipway_device', path: '/api/v1/auth' };

/** Under whichever name: one that others have set is known for nothing of the caller's. */
export function deviceTokenOf(request: FastifyRequest): string | undefined {
  const value = readCookie(request, deviceCookie, true)?.value;
  return value !== undefined && /^device_[\w-]{43}$/.test(value) ? value : undefined;
}
