/** Networks: one an environment, with addresses that we give out. */
import type { Call, Reply } from './docker.ts';
import { fieldsOf, listOf, textOf } from './json.ts';

export interface NetworkWish {
  readonly name: string;
  /** `10.200.3.0/24` */
  readonly subnet: string;
  readonly gateway: string;
  readonly labels: Readonly<Record<string, string>>;
}

export function createNetwork({ name, subnet, gateway, labels }: NetworkWish): Call {
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

export function inspectNetwork(name: string): Call {
  return { method: 'GET', path: `/networks/${encodeURIComponent(name)}`, ok: [200, 404] };
}

/** Those of its gateway and of the containers that run in it. What does not run holds none, whatever it was promised. */
export function readNetworkAddresses({ status, body }: Reply): string[] {
  if (status === 404) return [];
  const gateways = listOf(fieldsOf(body, 'IPAM').Config).map((pool) => textOf(fieldsOf(pool).Gateway));
  const containers = Object.values(fieldsOf(body, 'Containers')).map((each) =>
    textOf(fieldsOf(each).IPv4Address),
  );
  return [...gateways, ...containers].flatMap((each) => (each === '' ? [] : [each.split('/')[0] ?? each]));
}
