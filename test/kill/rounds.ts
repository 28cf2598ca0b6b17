/**
 * Kills the service at random moments under writes, starts it again, and asks for everything it acknowledged.
 * The service of one round's check is the one that the next round kills.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { callApi } from '../support/app.ts';
import { Mailbox } from '../support/mailbox.ts';
import { temporaryFolder } from '../support/postgres.ts';
import type { Random } from '../support/random.ts';
import {
  endEverything,
  isAlive,
  postmasterOf,
  processesOf,
  type Service,
  signal,
  startService,
} from '../support/service.ts';
import { until } from '../support/until.ts';
import { findLosses } from './check.ts';
import { Acknowledged, type Credentials, register, startWriters } from './writers.ts';

const roundsPerFolder = 8;
const startWithinMs = 40_000;
const settings = { SLIPWAY_LIMIT_SIGN_IN: '1000000', SLIPWAY_LIMIT_REQUESTS: '1000000' };

export interface Round {
  readonly kill: number;
  readonly what: string;
  readonly losses: readonly string[];
}

export class Campaign {
  readonly #random: Random;
  #dataDir: string | undefined;
  #service: Service | undefined;
  #account: Credentials | undefined;
  #kept = new Acknowledged();
  #earlierWrites = 0;
  #kills = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  get acknowledged(): number {
    return this.#earlierWrites + this.#kept.count;
  }

  /** For the moment that the campaign itself is stopped, when nothing can be waited for. */
  endNow(): void {
    if (this.#service && !this.#service.hasEnded) this.#service.child.kill('SIGKILL');
  }

  async end(): Promise<void> {
    if (this.#dataDir === undefined) return;
    await endEverything(this.#service, this.#dataDir);
    rmSync(this.#dataDir, { recursive: true, force: true });
    this.#dataDir = undefined;
  }

  async round(): Promise<Round> {
    this.#kills += 1;
    const isFirst = this.#kills % roundsPerFolder === 1 || this.#dataDir === undefined;
    const what = isFirst ? await this.#killFirstStart() : await this.#killUnderWrites();
    const url = await this.#runningUrl(what);
    const losses = await findLosses(url, this.#kept);
    if (isFirst) await this.#openAccount(url);
    return { kill: this.#kills, what, losses };
  }

  async #killFirstStart(): Promise<string> {
    await this.end();
    this.#earlierWrites += this.#kept.count;
    this.#kept = new Acknowledged();
    this.#dataDir = temporaryFolder('kill');
    return this.#killStart(1500);
  }

  async #killStart(mostMs: number): Promise<string> {
    const service = this.#start();
    const afterMs = this.#random.between(0, mostMs);
    await sleep(afterMs);
    const folder = this.#folder();
    const before = processesOf(folder);
    await service.kill('SIGKILL');
    this.#start();
    await gone(before, folder);
    return `the service ${afterMs} ms after its start`;
  }

  async #killUnderWrites(): Promise<string> {
    const folder = this.#folder();
    const service = this.#service;
    if (!service || !this.#account) throw new Error('there is no service to kill');
    const acknowledged = this.#kept.count;
    const writing = startWriters(await service.url(), this.#account, this.#kept);
    await until(() => this.#kept.count >= acknowledged + 2, 'the first writes to be acknowledged');
    const whom = this.#random.pick('the service', 'the database', 'both');
    const afterMs = this.#random.between(20, 900);
    await sleep(afterMs);
    const before = processesOf(folder).filter(({ pid }) => pid !== service.pid);
    const database = postmasterOf(folder);
    if (whom !== 'the service' && database !== undefined) signal(database, 'SIGKILL');
    if (whom !== 'the database') await service.kill('SIGKILL');
    writing.halt();
    await writing.done;
    let what = `${whom} ${afterMs} ms after the first writes`;
    if (whom !== 'the database') {
      // A crash while it gets up from a crash is the one that is forgotten.
      if (this.#random.chance(0.25)) what += `, then ${await this.#killStart(600)}`;
      else this.#start();
    }
    await gone(before, folder);
    return what;
  }

  /** The address of the service, once it can work; it must come by itself. */
  async #runningUrl(what: string): Promise<string> {
    const service = this.#service;
    if (!service) throw new Error('no service was started');
    try {
      const url = await service.url();
      const isReady = async () => (await fetch(`${url}/readyz`)).status === 200;
      await until(isReady, 'the service to be ready', startWithinMs);
      return url;
    } catch (error) {
      const said = `${service.stdout.slice(-2000)}${service.stderr}`;
      throw new Error(`kill ${this.#kills} (${what}): it does not come back. It said: ${said}`, {
        cause: error,
      });
    }
  }

  async #openAccount(url: string): Promise<void> {
    const account = await register(url);
    const code = await new Mailbox(join(this.#folder(), 'outbox')).code(account.email);
    const body = { email: account.email, code };
    const answer = await callApi(url, 'POST', '/auth/verify-otp', { body });
    if (answer.status !== 200) throw new Error(`verify-otp answered ${answer.status}: ${answer.text}`);
    this.#account = account;
  }

  #start(): Service {
    this.#service = startService({ SLIPWAY_DATA_DIR: this.#folder(), ...settings });
    return this.#service;
  }

  #folder(): string {
    if (this.#dataDir === undefined) throw new Error('there is no data folder');
    return this.#dataDir;
  }
}

/** Everything that ran in the folder before the kill has ended, the database's own workers included. */
async function gone(before: readonly Parameters<typeof isAlive>[0][], folder: string): Promise<void> {
  const left = () => before.filter((each) => isAlive(each, folder));
  await until(() => left().length === 0, 'the processes of the round before to end', startWithinMs).catch(
    (error) => {
      throw new Error(
        `left from the round before: ${left().map(({ pid, command }) => `${pid} ${command}`)}`,
        {
          cause: error,
        },
      );
    },
  );
}
