/** What the plan is made for: who logs in from where, and what has to stay reachable. */
import { isIP } from 'node:net';
import { Fault } from '../../../fault.ts';
import type { StepId } from './plan.ts';

export interface Wish {
  /** Whom we log in as. */
  readonly username: string;
  /** The port sshd really listens on. */
  readonly sshPort: number;
  /** The address that the server sees us come from. */
  readonly ourAddress: string;
  /** TCP ports that stay open beside SSH, 80 and 443, Docker's among them. */
  readonly allowPorts: readonly number[];
  /** A login by key was proven; without one there is nothing to plan. */
  readonly hasKeyLogin: true;
  /** All, if not said. */
  readonly steps?: readonly StepId[];
  /** The pinned host key; its algorithm is kept even where it is not the best. */
  readonly pinnedHostKey?: string;
}

export function checkWish(wish: Wish): void {
  const wrong = (what: string) => new Fault('invalid_input', `The hardening cannot be planned: ${what}.`);
  if (!/^[A-Za-z_][A-Za-z0-9_.-]{0,31}$/.test(wish.username)) throw wrong('this is no name of a user');
  if (isIP(wish.ourAddress) === 0) throw wrong('our own address is not an IP address');
  for (const port of [wish.sshPort, ...wish.allowPorts])
    if (!Number.isInteger(port) || port < 1 || port > 65_535) throw wrong(`${port} is no port`);
}

/** An IPv4 address as IPv4, also where a dual socket shows it as `::ffff:192.0.2.1`. */
export function plainAddress(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  return mapped?.[1] ?? address;
}
