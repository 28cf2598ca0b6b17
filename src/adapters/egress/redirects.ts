/** A redirect is never followed: it would lead past the address that a person gave. It is told instead. */
import { Fault } from '../../fault.ts';

/** The fault that a redirect is, where the answer is one. Says where it points, without what could be secret in it. */
export function redirectFault(
  url: string | URL,
  response: Pick<Response, 'status' | 'headers'>,
): Fault | undefined {
  const location = response.headers.get('location');
  if (response.status < 300 || response.status > 399 || response.status === 304) return undefined;
  const from = new URL(url);
  const target = location === null ? null : URL.parse(location, from.href);
  const shown = target
    ? `${target.origin === 'null' ? target.protocol : target.origin}${target.pathname}`
    : '';
  return new Fault(
    'egress_refused',
    `${from.origin} redirects to ${shown || 'an unknown place'}, and redirects are not followed.`,
    {
      hint: 'Give the address that it points to, if that is the right one.',
      evidence: `status ${response.status} for ${from.origin}${from.pathname}`,
    },
  );
}
