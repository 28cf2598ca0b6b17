/** Addresses of receivers, held against their form when they are given; where they lead is checked with each request. */
import { Fault } from '../../fault.ts';

/** As it is kept. Plain http only where this instance may reach its own network. */
export function receiverUrl(given: string, path: string, allowHttp: boolean): string {
  const url = URL.parse(given.trim());
  const schemes = allowHttp ? ['https:', 'http:'] : ['https:'];
  if (!url || url.hostname === '') throw wrong(path, 'is not an address such as https://hooks.example.com/…');
  if (!schemes.includes(url.protocol)) throw wrong(path, 'must begin with https://');
  if (url.username !== '' || url.password !== '')
    throw wrong(path, 'must not carry a user name or a password');
  if (!allowHttp && url.port !== '' && Number(url.port) < 1024 && url.port !== '443')
    throw wrong(path, 'must not name a port below 1024 other than 443');
  url.hash = '';
  return url.href;
}

/** What may be shown of it: the rest is the key to it. */
export function shownUrl(url: string): string {
  return `${new URL(url).origin}/…`;
}

function wrong(path: string, message: string): Fault {
  return new Fault('invalid_input', 'The connector cannot be set up like this.', {
    errors: [{ path: `config.${path}`, message }],
  });
}

export { wrong as wrongConfig };
