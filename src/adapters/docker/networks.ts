/** Networks: one an environment, with addresses that we give out. */
import type { Call } from './docker.ts';

/** All of them together; `engine/placement.ts` gives each environment its part. */
export const appNetworks = '198.18.0.0/15';

export interface NetworkSpec {
  readonly name: string;
  /** `10.200.3.0/24` */
  readonly subnet: string;
  readonly gateway: string;
  readonly labels: Readonly<Record<string, string>>;
}

export function createNetwork({ name, subnet, gateway, labels }: NetworkSpec): Call {
  const body = {
    Name: name,
    Driver: 'bridge',
    // An older Docker would make a second one of the same name.
    CheckDuplicate: true,
    // Whatever the daemon has for a default: the rules for what containers may reach know them by IPv4.
    EnableIPv6: false,
    IPAM: { Driver: 'default', Config: [{ Subnet: subnet, Gateway: gateway }] },
    Labels: labels,
  };
  return { method: 'POST', path: '/networks/create', body, ok: [201, 409] };
}

/** One more for a container that does not run yet; the first is said when it is made. */
export function connectNetwork(name: string, container: string, aliases: readonly string[]): Call {
  const body = { Container: container, EndpointConfig: { Aliases: aliases } };
  return { method: 'POST', path: `/networks/${encodeURIComponent(name)}/connect`, body, ok: [200] };
}

/** Refused while a container is in it. */
export function removeNetwork(name: string): Call {
  return { method: 'DELETE', path: `/networks/${encodeURIComponent(name)}`, ok: [204, 404] };
}
