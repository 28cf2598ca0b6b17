/**
 * Where the lab keeps its things, and which addresses it uses. Every lab has a name and a /24 of its own; what is
 * expensive (trees, images) is shared between all labs of the machine and never written to by a running one.
 */
import { join } from 'node:path';

export const cacheDir = '/var/cache/slipway-lab';
export const stateRoot = '/var/lib/slipway-lab';

/** The zone that every lab is the authority for. */
export const zone = 'lab.test';

/** On the lab's own address, so that two labs never ask for the same port. */
export const ports = {
  dns: 53,
  registry: 5000,
  control: 8000,
  git: 8001,
  s3: 8002,
  slack: 8003,
  catcher: 8004,
  receivers: 8006,
  receiversTls: 8007,
  smtp: 1025,
  acme: 14000,
  acmeManagement: 15000,
} as const;

export interface LabPlaces {
  readonly name: string;
  readonly dir: string;
  /** Written whole once the lab is up; programs read it, `up --json` prints it. */
  readonly descriptionFile: string;
  readonly key: string;
  readonly knownHosts: string;
  readonly caFile: string;
}

export function placementsOf(name: string): LabPlaces {
  const dir = join(stateRoot, name);
  return {
    name,
    dir,
    descriptionFile: join(dir, 'lab.json'),
    key: join(dir, 'id_ed25519'),
    knownHosts: join(dir, 'known_hosts'),
    caFile: join(dir, 'acme-ca.pem'),
  };
}

/** `10.213.<number>.0/24`: the host is `.1`, the way out `.2`, servers from `.11` on. */
export interface Subnet {
  readonly number: number;
  readonly cidr: string;
  readonly host: string;
  readonly gateway: string;
}

export function subnetOf(number: number): Subnet {
  const prefix = `10.213.${number}`;
  return { number, cidr: `${prefix}.0/24`, host: `${prefix}.1`, gateway: `${prefix}.2` };
}

export function serverAddress(subnet: Subnet, index: number): string {
  return `10.213.${subnet.number}.${11 + index}`;
}
