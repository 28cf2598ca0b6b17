/** The servers of one lab: who there is, under which name and address, and what their host keys are. */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { building } from '../build/building.ts';
import type { ServerDescription } from '../description.ts';
import type { LabNetwork } from '../network.ts';
import { type LabPlaces, serverAddress } from '../places.ts';
import type { Disk } from './disk.ts';
import { newPassword } from './furnish.ts';
import { provisionedDisk } from './provisioned-disk.ts';
import { LabServer } from './server.ts';
import { serverTree, sudoUser, type Variant, type VariantName, variants } from './variants.ts';

const highest = 200;

export class Fleet {
  readonly #places: LabPlaces;
  readonly #network: LabNetwork;
  readonly #authorizedKey: string;
  readonly #servers = new Map<string, LabServer>();
  /** Names and addresses in use, by servers that are still booting too. */
  readonly #taken = new Map<string, string>();
  /** Addresses are given once: a server that is gone never shares its address with a new one while it can. */
  #next = 0;

  constructor(places: LabPlaces, network: LabNetwork, authorizedKey: string) {
    this.#places = places;
    this.#network = network;
    this.#authorizedKey = authorizedKey;
  }

  list(): ServerDescription[] {
    return this.#inOrder().map((server) => this.#describe(server));
  }

  get(name: string): LabServer {
    const server = this.#servers.get(name);
    if (!server) {
      const known =
        this.#inOrder()
          .map(({ plan }) => plan.name)
          .join(', ') || 'none';
      throw new UnknownServer(`There is no server «${name}» in this lab; there is: ${known}.`);
    }
    return server;
  }

  async add(variant: VariantName, wanted?: string): Promise<ServerDescription> {
    const disk = await building(() => this.#diskOf(variant));
    const name = wanted ?? this.#freeName(variant);
    // The name becomes an interface (`vb-<name>`), and those have 15 characters.
    if (!/^[a-z][a-z0-9-]{0,10}$/.test(name)) {
      throw new BadName(`«${name}» is no name for a server: up to 11 of a-z, 0-9 and -, a letter first.`);
    }
    if (this.#taken.has(name)) throw new BadName(`There is a server «${name}» already.`);
    const server = await this.#boot(name, variant, disk);
    this.#servers.set(name, server);
    this.#writeKnownHosts();
    return this.#describe(server);
  }

  async #diskOf(variant: VariantName): Promise<Disk> {
    const tree = await serverTree(variant);
    const { isProvisioned = false }: Variant = variants[variant];
    if (!isProvisioned) return tree;
    const name = 'to-copy';
    try {
      return await provisionedDisk(tree, this.#places.key, () => this.#boot(name, variant, tree));
    } finally {
      this.#taken.delete(name);
    }
  }

  async #boot(name: string, variant: VariantName, disk: Disk): Promise<LabServer> {
    const address = this.#freeAddress();
    const login: Variant['login'] = variants[variant].login;
    const plan = {
      name,
      variant,
      address,
      lab: this.#places.name,
      dir: join(this.#places.dir, 'servers', name),
      authorizedKey: login === 'root-by-key' ? this.#authorizedKey : undefined,
      password: login === 'sudo-by-password' ? newPassword() : undefined,
    };
    const server = new LabServer(plan, this.#network, disk);
    this.#taken.set(name, address);
    try {
      await server.boot();
      return server;
    } catch (error) {
      await server.destroy();
      this.#taken.delete(name);
      throw error;
    }
  }

  async reset(name: string, newHostKeys: boolean): Promise<ServerDescription> {
    const server = this.get(name);
    await server.reset({ newHostKeys });
    this.#writeKnownHosts();
    return this.#describe(server);
  }

  async remove(name: string): Promise<void> {
    const server = this.get(name);
    this.#servers.delete(name);
    await server.destroy();
    this.#taken.delete(name);
    this.#writeKnownHosts();
  }

  /** They boot at the same time, and whoever is first is chance. */
  #inOrder(): LabServer[] {
    const byName = new Intl.Collator('en', { numeric: true });
    return [...this.#servers.values()].sort((one, other) => byName.compare(one.plan.name, other.plan.name));
  }

  #describe(server: LabServer): ServerDescription {
    const { name, variant, address, password, authorizedKey } = server.plan;
    return {
      name,
      variant,
      address,
      about: variants[variant].about,
      port: 22,
      user: password === undefined ? 'root' : sudoUser,
      password: password ?? null,
      keyFile: authorizedKey === undefined ? null : this.#places.key,
      hostKeys: server.hostKeys,
      isCut: server.isCut,
    };
  }

  #freeName(variant: VariantName): string {
    const short: Partial<Record<VariantName, string>> = { docker: 's', provisioned: 'p' };
    const prefix = short[variant] ?? variant;
    for (let number = 1; ; number += 1)
      if (!this.#taken.has(`${prefix}${number}`)) return `${prefix}${number}`;
  }

  #freeAddress(): string {
    const used = new Set(this.#taken.values());
    for (let tries = 0; tries < highest; tries += 1) {
      const address = serverAddress(this.#network.subnet, this.#next % highest);
      this.#next += 1;
      if (!used.has(address)) return address;
    }
    throw new Error(`a lab has at most ${highest} servers`);
  }

  #writeKnownHosts(): void {
    const lines = this.list().flatMap(({ address, hostKeys }) =>
      hostKeys.map((key) => `${address} ${key}\n`),
    );
    // In one step: whoever logs in elsewhere meanwhile must not read half of it.
    const draft = `${this.#places.knownHosts}.new`;
    writeFileSync(draft, lines.join(''));
    renameSync(draft, this.#places.knownHosts);
  }
}

export class UnknownServer extends Error {}
export class BadName extends Error {}
