/** What a plan is computed for: who logs in from where, and what has to stay reachable. */
import { isIP } from 'node:net';
import { Fault } from '../../../fault.ts';
import type { StepId } from './plan.ts';

export interface PlanRequest {
  /** Whom we log in as, by key: that was verified before. */
  readonly username: string;
  /** The port sshd really listens on. */
  readonly sshPort: number;
  /** The address that the server sees us come from. */
  readonly ourAddress: string;
  /** TCP ports that stay open beside SSH, 80 and 443, Docker's among them. */
  readonly allowPorts: readonly number[];
  /** All, by default. */
  readonly steps?: readonly StepId[];
  /** The pinned host key; its algorithm stays enabled even where it is not the best. */
  readonly pinnedHostKey?: string;
}

export function validatePlanRequest({ username, ourAddress, sshPort, allowPorts }: PlanRequest): void {
  const invalid = (why: string) => new Fault('invalid_input', `The hardening cannot be planned: ${why}.`);
  if (!/^[A-Za-z_][A-Za-z0-9_.-]{0,31}$/.test(username)) throw invalid('the user name is not valid');
  if (isIP(ourAddress) === 0) throw invalid('our own address is not an IP address');
  for (const port of [sshPort, ...allowPorts])
    if (!Number.isInteger(port) || port < 1 || port > 65_535) throw invalid(`${port} is not a port`);
}

/** An IPv4 address as IPv4, also where a dual-stack socket shows it as `::ffff:192.0.2.1`. */
export function plainAddress(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  return mapped?.[1] ?? address;
}
