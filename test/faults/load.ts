/** Constant visitors on a lab server, from inside its own network, and what they did not get. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { LabClient } from '../../lab/client.ts';
import { until } from '../support/until.ts';

export interface Failure {
  readonly what: string;
  readonly said: string;
  readonly begunAt: number;
  readonly at: number;
}

export interface Seen {
  readonly answered: number;
  readonly echoes: number;
  readonly lastVersion: string;
}

export class Load {
  readonly failures: Failure[] = [];
  readonly #child: ChildProcess;
  #seen: Seen = { answered: 0, echoes: 0, lastVersion: '' };
  #ended: Seen | undefined;
  #said = '';

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', (message: { failure?: Failure; seen?: Seen; ended?: Seen }) => {
      if (message.failure) this.failures.push(message.failure);
      if (message.seen) this.#seen = message.seen;
      if (message.ended) this.#ended = message.ended;
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#said += text;
    });
  }

  /** Once every kind of visitor has been answered. */
  static async start(lab: LabClient, server: string, url: string, socketUrl: string): Promise<Load> {
    const pid = await processIn(lab, server);
    const program = fileURLToPath(new URL('./load-process.ts', import.meta.url));
    const argv = [`--net=/proc/${pid}/ns/net`, '--', process.execPath, program, url, socketUrl];
    const child = spawn('nsenter', argv, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    const load = new Load(child);
    await load.answered(20);
    return load;
  }

  /** Passes when so many more requests were answered. */
  async answered(more: number): Promise<Seen> {
    const before = this.#seen.answered;
    return until(
      () => {
        if (!this.#child.connected) throw new Error(`the visitors are gone: ${this.#said}`);
        this.#child.send('tell');
        return this.#seen.answered >= before + more ? this.#seen : undefined;
      },
      `${more} answers; failed: ${JSON.stringify(this.failures.slice(-3))}`,
    );
  }

  /** After the last request under way was answered. */
  async end(): Promise<Seen> {
    if (this.#child.connected) this.#child.send('end');
    return until(() => this.#ended, 'the visitors to go');
  }

  endNow(): void {
    this.#child.kill('SIGKILL');
  }
}

/** A process of this machine that is in the server's network. */
async function processIn(lab: LabClient, server: string): Promise<number> {
  const { stdout } = await lab.console(server, 'readlink', '/proc/self/ns/net');
  const wanted = stdout.trim();
  const found = readdirSync('/proc')
    .filter((each) => /^\d+$/.test(each))
    .find((pid) => isIn(pid, wanted));
  if (found === undefined) throw new Error(`no process is in the network of ${server}`);
  return Number(found);
}

function isIn(pid: string, wanted: string): boolean {
  try {
    const isInit = readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'systemd';
    return isInit && readlinkSync(`/proc/${pid}/ns/net`) === wanted;
  } catch {
    // It has ended meanwhile.
    return false;
  }
}
