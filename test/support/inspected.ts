/** A lab server as the security checks and hardening see it: over SSH, with its round trips counted, and by its console. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { TestContext } from 'node:test';
import type { PortState } from '../../src/areas/servers/security/facts.ts';
import type { SecurityCheck, SecurityContext } from '../../src/areas/servers/security/rule.ts';
import { checkSecurity, type SecurityReport } from '../../src/areas/servers/security/security.ts';
import type { Remote } from '../../src/remote/remote.ts';
import { Secret } from '../../src/secret.ts';
import { openLab, type TestServer } from './lab.ts';
import { connect as connectTo } from './remote.ts';

const lab = await openLab();

export type Statuses = Record<string, SecurityCheck['status']>;

export class Inspected {
  readonly server: TestServer;
  readonly remote: Remote;
  roundTrips = 0;

  readonly #port: number;

  constructor(t: TestContext, server: TestServer, port = server.about.port) {
    this.server = server;
    this.#port = port;
    const labKey = new Secret(readFileSync(`${lab.about.dir}/id_ed25519`, 'utf8'));
    const remote = connectTo(t, server, { port, privateKey: labKey });
    const counted = <A extends unknown[], R>(call: (...args: A) => R) => {
      return (...args: A) => {
        this.roundTrips += 1;
        return call(...args);
      };
    };
    this.remote = {
      ...remote,
      run: counted(remote.run),
      output: counted(remote.output),
      script: counted(remote.script),
      stream: counted(remote.stream),
      readFile: counted(remote.readFile),
    };
  }

  check(changes: Partial<SecurityContext> = {}): Promise<SecurityReport> {
    const { address, user } = this.server.about;
    const ctx = { host: address, port: this.#port, username: user, now: new Date(), connect: portState };
    return checkSecurity(this.remote, { ...ctx, ...changes });
  }

  async statuses(changes: Partial<SecurityContext> = {}): Promise<Statuses> {
    return statusesOf((await this.check(changes)).checks);
  }

  /** As root, by the console. */
  async sh(script: string): Promise<string> {
    const { code, stdout, stderr } = await lab.client.console(this.server.about.name, 'sh', '-euc', script);
    assert.equal(code, 0, `${script}: ${stderr}`);
    return stdout;
  }
}

export function statusesOf(checks: readonly SecurityCheck[]): Statuses {
  return Object.fromEntries(checks.map(({ id, status }) => [id, status]));
}

export async function answers(host: string, port: number, timeout: number): Promise<boolean> {
  return (await portState(host, port, timeout)) === 'open';
}

function portState(host: string, port: number, timeout: number): Promise<PortState> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout });
    const end = (state: PortState) => {
      socket.destroy();
      resolve(state);
    };
    socket
      .once('connect', () => end('open'))
      .once('timeout', () => end('filtered'))
      .once('error', (error) =>
        end('code' in error && error.code === 'ECONNREFUSED' ? 'closed' : 'filtered'),
      );
  });
}

/** What is another than before. */
export function changesOf(before: Statuses, after: Statuses): Statuses {
  return Object.fromEntries(Object.entries(after).filter(([id, status]) => before[id] !== status));
}
