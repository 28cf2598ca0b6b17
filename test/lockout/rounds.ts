/**
 * Hardening that is broken off at a moment of the seed's choosing: the service is killed, the network cut, or the
 * server rebooted. Afterwards someone must be able to log in within three minutes, and the next hardening must end
 * well. A server is made for each round and thrown away with it.
 */
import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LabClient } from '../../lab/client.ts';
import { attempt } from '../../lab/command.ts';
import type { LabDescription, ServerDescription } from '../../lab/description.ts';
import { callApi } from '../support/app.ts';
import { Mailbox } from '../support/mailbox.ts';
import { temporaryFolder } from '../support/postgres.ts';
import type { Random } from '../support/random.ts';
import { endEverything, type Service, startService, until } from '../support/service.ts';

export const loginLimitMs = 180_000;
/** Those that can shut someone out, and those that they stand on; what only takes long is left to other tests. */
const steps = [
  'sysctl',
  'firewall',
  'docker_ports',
  'ssh_settings',
  'ssh_algorithms',
  'ssh_no_root',
  'ssh_no_passwords',
];

export interface Round {
  readonly what: string;
  readonly loginAfterMs: number;
  readonly firstEnd: string;
}

export class Lockouts {
  readonly #lab: LabClient;
  readonly #about: LabDescription;
  readonly #random: Random;
  readonly #dataDir = temporaryFolder('lockout');
  #service: Service | undefined;
  #url = '';
  #token = '';

  constructor(lab: LabClient, about: LabDescription, random: Random) {
    this.#lab = lab;
    this.#about = about;
    this.#random = random;
  }

  async round(): Promise<Round> {
    if (!this.#service) await this.#begin();
    const server = await this.#lab.addServer('docker');
    try {
      return await this.#break(server);
    } finally {
      await this.#lab.removeServer(server.name);
    }
  }

  async end(): Promise<void> {
    if (this.#service) await endEverything(this.#service, this.#dataDir);
    rmSync(this.#dataDir, { recursive: true, force: true });
  }

  async #break(server: ServerDescription): Promise<Round> {
    const id = await this.#register(server);
    const operationId = await this.#harden(id);
    const fault = this.#random.pick('the service killed', 'the network cut', 'the server rebooted');
    const afterMs = this.#random.between(0, 9_000);
    await sleep(afterMs);
    await this.#fault(fault, server.name);
    const loginAfterMs = await this.#login(server);
    const first = await this.#ended(operationId);
    const firstEnd = `${first.status}${first.fault ? ` (${Object(first.fault).code})` : ''}`;
    const second = await this.#ended(await this.#harden(id));
    assert.equal(
      second.status,
      'succeeded',
      `the next run, after «${firstEnd}»: ${JSON.stringify(second.fault)}`,
    );
    await this.#call('DELETE', `/servers/${id}?leave=true`, 204);
    return { what: `${fault} after ${afterMs} ms`, loginAfterMs, firstEnd };
  }

  async #fault(fault: string, name: string): Promise<void> {
    if (fault === 'the service killed') {
      await this.#service?.kill('SIGKILL');
      await sleep(this.#random.between(0, 3_000));
      await this.#start();
    } else if (fault === 'the network cut') {
      await this.#lab.cut(name);
      // Now and then for longer than the server waits for us.
      await sleep(this.#random.chance(0.15) ? 130_000 : this.#random.between(1_000, 20_000));
      await this.#lab.heal(name);
    } else {
      const boot = await this.#bootOf(name);
      await this.#lab.console(name, 'systemctl', 'reboot');
      // A login before it goes down would prove nothing.
      await until(
        async () => {
          const now = await this.#bootOf(name).catch(() => '');
          return now !== '' && now !== boot;
        },
        // What is under way there gets up to 90 s to end.
        150_000,
        'the server to boot again',
      );
    }
  }

  async #bootOf(name: string): Promise<string> {
    return (await this.#lab.console(name, 'systemctl', 'show', '--property=UserspaceTimestamp')).stdout;
  }

  /** Not by us: by a person with the same key. */
  async #login({ address, keyFile }: ServerDescription): Promise<number> {
    const begun = Date.now();
    const options = [
      '-o',
      `UserKnownHostsFile=${this.#about.knownHosts}`,
      '-o',
      'BatchMode=yes',
      '-o',
      'ConnectTimeout=3',
    ];
    await until(
      async () => {
        const outcome = await attempt('ssh', ['-i', keyFile ?? '', ...options, `root@${address}`, 'true']);
        return outcome.code === 0;
      },
      loginLimitMs,
      'a login after the fault',
    );
    return Date.now() - begun;
  }

  async #begin(): Promise<void> {
    await this.#start();
    const person = { email: 'ada@example.com', password: 'a long enough password' };
    await this.#call('POST', '/auth/register', 201, person);
    const code = await new Mailbox(`${this.#dataDir}/outbox`).code(person.email);
    await this.#call('POST', '/auth/verify-otp', 200, { email: person.email, code });
    await this.#signIn();
  }

  async #start(): Promise<void> {
    this.#service = startService({ SLIPWAY_DATA_DIR: this.#dataDir, SLIPWAY_LIMIT_REQUESTS: '1000000' });
    this.#url = await this.#service.url();
  }

  async #signIn(): Promise<void> {
    const person = { email: 'ada@example.com', password: 'a long enough password' };
    const answer = await this.#call('POST', '/auth/login', 200, person);
    this.#token = String(answer.accessToken);
  }

  async #register({ name, address, keyFile }: ServerDescription): Promise<string> {
    await this.#signIn();
    const auth = { type: 'key', privateKey: readFileSync(keyFile ?? '', 'utf8') };
    const made = await this.#call('POST', '/servers', 201, { name, host: address, auth });
    await until(
      async () => Object(await this.#call('GET', `/servers/${made.id}`, 200)).status === 'ready' || undefined,
      120_000,
      'the server to be ready',
    );
    return String(made.id);
  }

  async #harden(id: string): Promise<string> {
    const started = await this.#call('POST', `/servers/${id}/security/harden`, 202, { steps });
    return String(started.id);
  }

  async #ended(operationId: string): Promise<Record<string, unknown>> {
    return until(
      async () => {
        const operation = await this.#call('GET', `/operations/${operationId}`, 200);
        return operation.finishedAt ? operation : undefined;
      },
      300_000,
      'the hardening to end',
    );
  }

  async #call(method: string, path: string, status: number, body?: object): Promise<Record<string, unknown>> {
    const answer = await callApi(this.#url, method, path, { token: this.#token, ...(body && { body }) });
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`);
    return answer.body;
  }
}
