/**
 * Hardening that is broken off at a moment of the seed's choosing: the service is killed, the network cut, or the
 * server rebooted. Afterwards someone must be able to log in within three minutes, and the next hardening must end
 * well. A server is made for each round and thrown away with it; service and data folder are this worker's own.
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
import { Random } from '../support/random.ts';
import { orderReboot } from '../support/reboot.ts';
import { endEverything, type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

export const loginLimitMs = 180_000;
/** For everything but the login: the machine may be busy with other rounds. */
const patienceMs = 600_000;
/** Those that can shut someone out, and those that they stand on; what only takes long is left to other tests. */
const steps: readonly [string, ...string[]] = [
  'sysctl',
  'firewall',
  'docker_ports',
  'ssh_settings',
  'ssh_algorithms',
  'ssh_no_root',
  'ssh_no_passwords',
];

const askBoot = ['systemctl', 'show', '--property=UserspaceTimestamp'];

export interface Round {
  readonly what: string;
  readonly loginAfterMs: number;
  readonly firstEnd: string;
}

export class Lockouts {
  readonly #lab: LabClient;
  readonly #about: LabDescription;
  #random = new Random(0);
  readonly #dataDir = temporaryFolder('lockout');
  #service: Service | undefined;
  #url = '';
  #token = '';

  constructor(lab: LabClient, about: LabDescription) {
    this.#lab = lab;
    this.#about = about;
  }

  /** The same seed and number are the same round, whoever runs it and whatever ran before. */
  async round(seed: number, number: number): Promise<Round> {
    this.#random = new Random(Math.imul(seed, 0x9e3779b1) ^ Math.imul(number, 0x85ebca6b));
    if (!this.#service) await this.#begin();
    const server = await this.#lab.addServer('provisioned');
    try {
      return await this.#break(server);
    } finally {
      await this.#lab.removeServer(server.name);
    }
  }

  /** What the service printed last, for a round that failed. */
  get said(): string {
    return `${this.#service?.stdout ?? ''}${this.#service?.stderr ?? ''}`.slice(-4000);
  }

  /** For the moment that the campaign itself is stopped, when nothing can be waited for. */
  endNow(): void {
    if (this.#service && !this.#service.hasEnded) this.#service.child.kill('SIGKILL');
  }

  async end(): Promise<void> {
    if (this.#service) await endEverything(this.#service, this.#dataDir);
    rmSync(this.#dataDir, { recursive: true, force: true });
  }

  async #break(server: ServerDescription): Promise<Round> {
    const id = await this.#register(server);
    const operationId = await this.#harden(id);
    const fault = this.#random.pick('the service killed', 'the network cut', 'the server rebooted');
    const step = this.#random.pick(...steps);
    const afterMs = this.#random.between(0, 2_500);
    const reached = await this.#reach(operationId, step);
    await sleep(afterMs);
    const loginAfterMs = await this.#login(server, await this.#fault(fault, server));
    const first = await this.#ended(operationId);
    const firstEnd = `${first.status}${first.fault ? ` (${Object(first.fault).code})` : ''}`;
    const second = await this.#ended(await this.#harden(id));
    assert.equal(
      second.status,
      'succeeded',
      `the next run, after «${firstEnd}»: ${JSON.stringify(second.fault)}`,
    );
    await this.#call('DELETE', `/servers/${id}?leave=true`, 204);
    return { what: `${fault} ${afterMs} ms into ${reached}`, loginAfterMs, firstEnd };
  }

  /** Waits for a step that had nothing to do, or was too quick to be seen, no longer than until the one after it. */
  async #reach(operationId: string, step: string): Promise<string> {
    const wanted = steps.indexOf(step);
    return until(
      async () => {
        const operation = await this.#call('GET', `/operations/${operationId}`, 200);
        if (operation.finishedAt) return 'its end';
        const at = String(operation.step);
        return steps.indexOf(at) >= wanted && at;
      },
      `the hardening to reach ${step}`,
      patienceMs,
    );
  }

  /** Says which boot a login must not be of: one before the server goes down would prove nothing. */
  async #fault(fault: string, server: ServerDescription): Promise<string | undefined> {
    if (fault === 'the service killed') {
      await this.#service?.kill('SIGKILL');
      await sleep(this.#random.between(0, 3_000));
      await this.#start();
    } else if (fault === 'the network cut') {
      await this.#lab.cut(server.name);
      // Now and then for longer than the server waits for us.
      await sleep(this.#random.chance(0.15) ? 130_000 : this.#random.between(1_000, 20_000));
      await this.#lab.heal(server.name);
    } else {
      const before = await this.#lab.console(server.name, ...askBoot);
      await orderReboot(this.#lab, server.name);
      // From here on the console is left alone: a command in a server that goes down would keep half of it alive.
      await sleep(1_000);
      return before.stdout;
    }
    return undefined;
  }

  /** Not by us: by a person with the same key. */
  async #login({ address, keyFile }: ServerDescription, oldBoot: string | undefined): Promise<number> {
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
        const argv = ['-i', keyFile ?? '', ...options, `root@${address}`, ...askBoot];
        const { code, stdout } = await attempt('ssh', argv);
        if (code === 0 && stdout !== oldBoot) return true;
        // Who connects too often is shut out by sshd itself for a while.
        await sleep(1_000);
        return undefined;
      },
      'a login after the fault',
      loginLimitMs,
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
    const limits = { SLIPWAY_LIMIT_REQUESTS: '1000000', SLIPWAY_LIMIT_TESTS: '1000000' };
    this.#service = startService({ SLIPWAY_DATA_DIR: this.#dataDir, ...limits });
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
      'the server to be ready',
      patienceMs,
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
        if (operation.finishedAt) return operation;
        // Asked more often, the asking itself would load the machine.
        await sleep(250);
        return undefined;
      },
      'the hardening to end',
      patienceMs,
    );
  }

  async #call(method: string, path: string, status: number, body?: object): Promise<Record<string, unknown>> {
    const answer = await callApi(this.#url, method, path, { token: this.#token, ...(body && { body }) });
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`);
    return answer.body;
  }
}
