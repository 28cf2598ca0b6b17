/** The token behind the `#` of a link from a mail; empty where the link was cut off. */
export function mailToken(): string {
  return new URLSearchParams(location.hash.slice(1)).get('token') ?? '';
}
