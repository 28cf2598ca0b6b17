/**
 * The lab's own piece of network: a namespace with a bridge, one cable to this machine and a way out. Owns the
 * namespace (network, mounts and processes), and with it everything in it: when its first process is gone, the
 * kernel takes the rest away, so that no crash leaves an interface, a rule or a mount behind. Refuses to touch this
 * machine's firewall and forwarding: the way out is a program (slirp4netns), not a rule.
 */
import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { attempt, ended, run, spawnBound } from './command.ts';
import { type HeldName, tryHold } from './held-name.ts';
import { type Subnet, subnetOf } from './places.ts';
import { childrenOf, nameOf } from './processes.ts';

const subnets = 256;
const bridge = 'br0';

export class LabNetwork {
  readonly subnet: Subnet;
  readonly #held: HeldName;
  readonly #holder: ChildProcess;
  readonly #pid: number;
  #wayOut: ChildProcess | undefined;

  private constructor(subnet: Subnet, held: HeldName, holder: ChildProcess, pid: number) {
    this.subnet = subnet;
    this.#held = held;
    this.#holder = holder;
    this.#pid = pid;
  }

  static async create(): Promise<LabNetwork> {
    const { subnet, held } = await freeSubnet();
    const holder = spawnBound(
      'unshare',
      [
        ...['--net', '--mount', '--pid', '--ipc', '--fork', '--kill-child=KILL', '--mount-proc'],
        // The first process of the namespace; as such it also collects orphans.
        ...['sh', '-c', 'while :; do sleep 1000; done'],
      ],
      { stdio: 'ignore' },
    );
    const network = new LabNetwork(subnet, held, holder, await firstProcess(holder));
    try {
      await network.#connect();
    } catch (error) {
      await network.close();
      throw error;
    }
    return network;
  }

  /** Ends with an error when the namespace does; nobody inside outlives it. */
  get gone(): Promise<void> {
    return ended(this.#holder);
  }

  /** The arguments of a program that runs a command inside. */
  inside(...args: string[]): [string, string[]] {
    return ['nsenter', ['--target', `${this.#pid}`, '--net', '--mount', '--pid', '--', ...args]];
  }

  /** The same, but on this machine's network. */
  insideWithoutNetwork(...args: string[]): [string, string[]] {
    return ['nsenter', ['--target', `${this.#pid}`, '--mount', '--pid', '--', ...args]];
  }

  async run(...args: string[]): Promise<string> {
    return run(...this.inside(...args));
  }

  get bridge(): string {
    return bridge;
  }

  /** Frames from and to a server vanish; its connections stay open on both sides. */
  async cut(server: string, isCut: boolean): Promise<void> {
    await this.run('bridge', 'link', 'set', 'dev', `vb-${server}`, 'state', isCut ? '0' : '3');
  }

  async close(): Promise<void> {
    this.#wayOut?.kill('SIGKILL');
    this.#holder.kill('SIGKILL');
    await ended(this.#holder);
    await removeBlackhole(this.subnet);
    await this.#held.release();
  }

  async #connect(): Promise<void> {
    const { cidr, host, gateway, number } = this.subnet;
    const cable = `slipway${number}`;
    await run('ip', ['link', 'add', cable, 'type', 'veth', 'peer', 'name', 'host', 'netns', `${this.#pid}`]);
    // systemd-nspawn keeps notes in /run and insists that they are in memory; where they are not, no server reboots.
    await this.run('mount', '-t', 'tmpfs', 'tmpfs', '/run');
    // By itself it takes the lowest address of its ports, another one with each server that comes or goes. Until the others
    // have asked for the new one, what they send to the way out is flooded and remembered without its translation, and a
    // connection that begins then is never answered.
    const [address, ...type] = ['02:53:4c:00:00:01', 'type', 'bridge', 'forward_delay', '0'];
    await this.run('ip', 'link', 'add', bridge, 'address', address, ...type);
    await this.run('ip', 'address', 'add', `${gateway}/24`, 'dev', bridge);
    for (const name of ['lo', bridge]) await this.run('ip', 'link', 'set', name, 'up');
    await this.run('ip', 'link', 'set', 'host', 'master', bridge, 'up');
    await run('ip', ['address', 'add', `${host}/24`, 'dev', cable]);
    await run('ip', ['link', 'set', cable, 'up']);
    // Once the lab is gone, a packet to it must not leave the machine by the default route.
    await removeBlackhole(this.subnet);
    await run('ip', ['route', 'add', 'unreachable', cidr, 'metric', '4294967295']);

    this.#wayOut = spawnBound(
      'slirp4netns',
      ['--configure', '--mtu=65520', '--disable-host-loopback', `${this.#pid}`, 'out0'],
      { stdio: 'ignore' },
    );
    await this.#routeOut(cidr);
  }

  async #routeOut(cidr: string): Promise<void> {
    const deadline = Date.now() + 10_000;
    while (!(await this.run('ip', 'route')).includes('default')) {
      if (Date.now() > deadline || this.#wayOut?.exitCode !== null)
        throw new Error('slirp4netns did not start');
      await sleep(10);
    }
    await this.run('sysctl', '--quiet', '--write', 'net.ipv4.ip_forward=1');
    const masquerade = ['POSTROUTING', '--source', cidr, '--out-interface', 'out0', '--jump', 'MASQUERADE'];
    await this.run('iptables', '--table', 'nat', '--append', ...masquerade);
  }
}

async function removeBlackhole({ cidr }: Subnet): Promise<void> {
  await attempt('ip', ['route', 'del', 'unreachable', cidr, 'metric', '4294967295']);
}

async function freeSubnet(): Promise<{ subnet: Subnet; held: HeldName }> {
  const routes = await run('ip', ['route']);
  for (let number = 0; number < subnets; number += 1) {
    const subnet = subnetOf(number);
    // Someone else's network; what an earlier lab left is `unreachable`, and ours to replace.
    if (routes.split('\n').some((line) => line.startsWith(`${subnet.cidr} `))) continue;
    const held = await tryHold(`subnet-${number}`);
    if (held) return { subnet, held };
  }
  throw new Error('all 256 networks of the lab are in use');
}

/** The child of `unshare`, once it has become the shell: before that its mounts are not in place. */
async function firstProcess(unshare: ChildProcess): Promise<number> {
  const deadline = Date.now() + 5_000;
  while (Date.now() < deadline && unshare.exitCode === null) {
    const shell = childrenOf(unshare.pid ?? 0).find((pid) => nameOf(pid) === 'sh');
    if (shell !== undefined) return shell;
    await sleep(5);
  }
  throw new Error('the namespace of the lab was not made: `unshare` ended or did not answer');
}
