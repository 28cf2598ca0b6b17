/** What a running lab tells of itself: printed by `up`, read by tests and programs. */
import { existsSync, readFileSync } from 'node:fs';
import { placementsOf } from './places.ts';
import { startOf } from './processes.ts';
import type { VariantName } from './servers/variants.ts';
import type { ReceiverAddresses } from './services/receivers.ts';

export interface ServerDescription {
  readonly name: string;
  readonly variant: VariantName;
  readonly about: string;
  readonly address: string;
  readonly port: number;
  readonly user: string;
  /** Set where the server takes passwords. */
  readonly password: string | null;
  /** Set where it takes the lab's key. */
  readonly keyFile: string | null;
  /** `type base64` each, as in `known_hosts`. */
  readonly hostKeys: readonly string[];
  readonly isCut: boolean;
}

export interface LabDescription {
  readonly name: string;
  readonly pid: number;
  readonly startedAt: string;
  readonly address: string;
  readonly cidr: string;
  readonly dir: string;
  readonly knownHosts: string;
  readonly servers: readonly ServerDescription[];
  readonly control: string;
  readonly dns: { readonly address: string; readonly port: number; readonly zone: string };
  readonly acme: { readonly directory: string; readonly management: string; readonly caFile: string };
  readonly registry: string;
  readonly git: {
    readonly url: string;
    readonly api: string;
    readonly login: string;
    readonly token: string;
  };
  readonly s3: {
    readonly endpoint: string;
    readonly region: string;
    readonly bucket: string;
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
  };
  readonly slack: string;
  readonly smtp: string;
  readonly catcher: string;
  /** Discord, Telegram and Teams, with what a connector is set up with, and an address that nobody trusts. */
  readonly receivers: ReceiverAddresses;
  /** What to start Slipway with, so that it uses this lab. */
  readonly settings: Readonly<Record<string, string>>;
}

/** The lab of that name, if it is up. */
export function readLab(name: string): LabDescription | undefined {
  const { descriptionFile } = placementsOf(name);
  if (!existsSync(descriptionFile)) return undefined;
  const lab: LabDescription = JSON.parse(readFileSync(descriptionFile, 'utf8'));
  return startOf(lab.pid) === lab.startedAt ? lab : undefined;
}
