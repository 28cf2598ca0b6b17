/** Where applications without a name of their own are reached: a port each, of the proxy, open in the firewall. */
export const appPorts = { first: 21_000, last: 21_999 } as const;

export function isAppPort(port: number): boolean {
  return port >= appPorts.first && port <= appPorts.last;
}
