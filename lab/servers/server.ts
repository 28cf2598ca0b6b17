/**
 * One booted server: a Debian with systemd in a container of systemd-nspawn, on the lab's bridge. Its root is a
 * throw-away layer over a cached tree, so that a new one costs nothing; Docker's folder is a plain one, because
 * Docker's own layers cannot lie on another overlay.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, cpSync, existsSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeServerGroups, removeGroups } from '../cgroups.ts';
import { attempt, ended, type Outcome, run } from '../command.ts';
import type { LabNetwork } from '../network.ts';
import { childrenOf, nameOf } from '../processes.ts';
import { copyDocker, type Disk } from './disk.ts';
import { furnish, hostKeyLines } from './furnish.ts';
import { type VariantName, variants } from './variants.ts';

export interface ServerPlan {
  readonly lab: string;
  readonly name: string;
  readonly variant: VariantName;
  readonly address: string;
  readonly dir: string;
  readonly authorizedKey: string | undefined;
  readonly password: string | undefined;
}

// Joins the control groups given before `--`, then becomes the rest.
const joinGroups = 'while [ "$1" != -- ]; do echo $$ > "$1"; shift; done; shift; exec "$@"';
/**
 * The kernel takes a while to clear up after a server. Its end of the link may still be there when one of the same
 * name starts, which then cannot have it.
 */
const freeLink = 'ip link delete "vb-$1" 2> /dev/null || true; shift; exec "$@"';
const readyWithinMs = 60_000;
/** How systemd-nspawn says that the server wants to be started again. */
const rebootCode = 133;

export class LabServer {
  readonly plan: ServerPlan;
  readonly #network: LabNetwork;
  readonly #disk: Disk;
  #container: ChildProcess | undefined;
  #isEnding = false;
  /** Kept here: while it is being reset, its disk has none. */
  #hostKeys: readonly string[] = [];
  isCut = false;

  constructor(plan: ServerPlan, network: LabNetwork, disk: Disk) {
    this.plan = plan;
    this.#network = network;
    this.#disk = disk;
  }

  get hostKeys(): readonly string[] {
    return this.#hostKeys;
  }

  async boot(): Promise<void> {
    const { name, address, authorizedKey, password } = this.plan;
    const keptKeys = this.#path('host-keys');
    for (const each of ['upper', 'work', 'root', 'docker']) mkdirSync(this.#path(each), { recursive: true });
    if (this.#disk.docker !== undefined) await copyDocker(this.#disk.docker, this.#path('docker'));
    await furnish(this.#path('upper'), this.#disk.folders, {
      name,
      address,
      authorizedKey,
      password,
      subnet: this.#network.subnet,
      hostKeys: existsSync(keptKeys) ? keptKeys : undefined,
    });
    this.#hostKeys = hostKeyLines(this.#path('upper'));
    const layers = [
      `lowerdir=${this.#disk.folders.join(':')}`,
      `upperdir=${this.#path('upper')}`,
      `workdir=${this.#path('work')}`,
    ];
    const root = this.#path('root');
    await this.#network.run('mount', '-t', 'overlay', 'overlay', '-o', layers.join(','), root);

    this.#switchOn();
    await this.#ready();
  }

  #switchOn(): void {
    const { lab, name, dir } = this.plan;
    const output = openSync(join(dir, 'console.log'), 'a');
    const nspawn = ['systemd-nspawn', ...this.#containerArguments()];
    const [program, args] = this.#network.inside('sh', '-euc', freeLink, 'sh', name, ...nspawn);
    const groups = makeServerGroups(lab, name);
    const container = spawn('sh', ['-euc', joinGroups, 'sh', ...groups, '--', program, ...args], {
      stdio: ['ignore', output, output],
      detached: true,
    });
    closeSync(output);
    this.#container = container;
    container.once('exit', (code) => {
      if (code === rebootCode && this.#container === container && !this.#isEnding) this.#switchOn();
    });
  }

  /** Runs a command inside as root without the network, as a provider's console does. */
  async console(...args: string[]): Promise<Outcome> {
    const entering = ['--target', `${this.#leader()}`, '--all', '--', ...args];
    // A server that shuts down stops what runs in it; nsenter then stops itself, and nobody would wake it.
    return attempt('nsenter', entering, { keepAwake: true });
  }

  async cut(isCut: boolean): Promise<void> {
    await this.#network.cut(this.plan.name, isCut);
    this.isCut = isCut;
  }

  /** As on its first day. With its host keys, unless it should look like another machine. */
  async reset(options: { readonly newHostKeys: boolean }): Promise<void> {
    await this.#end();
    const kept = this.#path('host-keys');
    rmSync(kept, { recursive: true, force: true });
    if (!options.newHostKeys) {
      cpSync(join(this.#path('upper'), 'etc/ssh'), kept, { recursive: true });
    }
    await remove(...['upper', 'work', 'docker'].map((each) => this.#path(each)));
    this.isCut = false;
    this.#isEnding = false;
    await this.boot();
  }

  /** In good order, as a person switches a machine off. What is on its disk stays. */
  async powerOff(): Promise<{ readonly root: string; readonly docker: string }> {
    this.#isEnding = true;
    const container = this.#container;
    if (!container) throw new Error(`${this.plan.name} is not running`);
    await this.console('systemctl', 'poweroff');
    await ended(container);
    await this.#end();
    return { root: this.#path('upper'), docker: this.#path('docker') };
  }

  async destroy(): Promise<void> {
    await this.#end();
    await remove(this.plan.dir);
  }

  async #end(): Promise<void> {
    this.#isEnding = true;
    const container = this.#container;
    if (!container) return;
    // The program that runs it, and the server's first process; between two boots there is no second one.
    for (const pid of [this.#findLeader(), ...childrenOf(container.pid ?? 0)]) {
      if (pid !== undefined && nameOf(pid) !== undefined) process.kill(pid, 'SIGKILL');
    }
    await ended(container);
    this.#container = undefined;
    await this.#network.run('umount', this.#path('root'));
    await removeGroups(this.plan.lab, this.plan.name);
  }

  #path(name: string): string {
    return join(this.plan.dir, name);
  }

  #containerArguments(): string[] {
    return [
      ...['--quiet', '--boot', '--register=no', '--keep-unit', '--console=pipe', '--link-journal=no'],
      ...['--resolv-conf=off', '--timezone=off', `--machine=${this.plan.name}`],
      ...[`--directory=${this.#path('root')}`, `--bind=${this.#path('docker')}:/var/lib/docker`],
      `--network-bridge=${this.#network.bridge}`,
      // Docker inside needs what the machine's own root may do.
      ...['--capability=all', '--system-call-filter=@keyring bpf @privileged add_key keyctl'],
    ];
  }

  async #ready(): Promise<void> {
    const deadline = Date.now() + readyWithinMs;
    const isReady = async () => {
      if (!(await greets(this.plan.address))) return false;
      if (!variants[this.plan.variant].docker) return true;
      return (await this.console('docker', 'version')).code === 0;
    };
    while (!(await isReady())) {
      if (this.#container?.exitCode !== null) throw new Error(`${this.plan.name} stopped while it booted`);
      if (Date.now() > deadline) throw new Error(`${this.plan.name} was not ready within 60 s`);
      await sleep(50);
    }
  }

  #leader(): number {
    const leader = this.#findLeader();
    if (leader === undefined) throw new Error(`${this.plan.name} is not running`);
    return leader;
  }

  /** nsenter → systemd-nspawn → the server's first process. */
  #findLeader(): number | undefined {
    const nspawn = childrenOf(this.#container?.pid ?? 0).find((pid) => nameOf(pid) === 'systemd-nspawn');
    return nspawn === undefined ? undefined : childrenOf(nspawn).find((pid) => nameOf(pid) === 'systemd');
  }
}

/** By a program of its own: Docker's folder has tens of thousands of files, and the lab's DNS must answer meanwhile. */
async function remove(...folders: readonly string[]): Promise<void> {
  await run('rm', ['--recursive', '--force', '--', ...folders]);
}

/** Whether an SSH server greets there. */
function greets(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port: 22, timeout: 1_000 });
    const finish = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('data', (data) => finish(data.toString('latin1').startsWith('SSH-2.0-')));
    socket.once('error', () => finish(false));
    socket.once('timeout', () => finish(false));
  });
}
