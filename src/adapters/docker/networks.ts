/** Networks: one an environment, with addresses that we give out. */
import type { Call } from './docker.ts';

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
    IPAM: { Driver: 'default', Config: [{ Subnet: subnet, Gateway: gateway }] },
    Labels: labels,
  };
  return { method: 'POST', path: '/networks/create', body, ok: [201, 409] };
}

/** Refused while a container is in it. */
export function removeNetwork(name: string): Call {
  return { method: 'DELETE', path: `/networks/${encodeURIComponent(name)}`, ok: [204, 404] };
}
