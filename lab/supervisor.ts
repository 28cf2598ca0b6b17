/**
 * The process behind a running lab. Owns its network, its servers and its services; when it ends, all of them do,
 * whether it was asked to or killed. Usage: supervisor.ts <name> <variant,variant…> [bound]
 * `bound` ties it to its standard input: when whoever started it is gone, so is the lab.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { settings as knownSettings } from '../src/config.ts';
import { writeFileAtomic } from '../src/store/files.ts';
import { run } from './command.ts';
import { createControl } from './control.ts';
import type { LabDescription } from './description.ts';
import { LabNetwork } from './network.ts';
import { type LabPlaces, placementsOf, ports, zone } from './places.ts';
import { startOf } from './processes.ts';
import { Fleet } from './servers/fleet.ts';
import { isVariant } from './servers/variants.ts';
import { startServices } from './services/services.ts';
import { claim, forget, noteSubnet } from './state.ts';

const [name = '', variantList = '', bound] = process.argv.slice(2);
const places = placementsOf(name);
claim(name);
const stopping = Promise.withResolvers<void>();
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => stopping.resolve());
if (bound) process.stdin.on('end', () => stopping.resolve()).resume();

let failure: unknown;
try {
  await live(places);
} catch (error) {
  failure = error;
}
await forget(name);
if (failure) {
  // The log file has lost its name by now; whoever started us reads it through the one it opened.
  process.stderr.write(`${failure instanceof Error ? failure.stack : String(failure)}\n`);
  process.exit(1);
}
process.exit(0);

/**
 * Each server takes about eight inotify instances, and the kernel gives all of root 128: the seventeenth server on a
 * machine would end while it boots, and not say why.
 */
function allowManyServers(): void {
  const file = '/proc/sys/fs/inotify/max_user_instances';
  const enough = 1_024;
  if (Number(readFileSync(file, 'utf8')) >= enough) return;
  try {
    writeFileSync(file, `${enough}\n`);
  } catch (error) {
    // In a container it may belong to somebody else: fewer servers still boot.
    process.stderr.write(`${file} cannot be raised: ${error instanceof Error ? error.message : error}\n`);
  }
}

async function live(at: LabPlaces): Promise<void> {
  allowManyServers();
  const network = await LabNetwork.create();
  noteSubnet(name, network.subnet.number);
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', `lab ${name}`, '-f', at.key]);
  const fleet = new Fleet(at, network, readFileSync(`${at.key}.pub`, 'utf8').trim());
  const { host, cidr } = network.subnet;
  const booting = Promise.all(
    variantList
      .split(',')
      .filter(isVariant)
      .map((variant) => fleet.add(variant)),
  );
  try {
    const [services] = await Promise.all([startServices(network, at), booting]);
    const describe = (): LabDescription => ({
      name,
      cidr,
      address: host,
      dir: at.dir,
      knownHosts: at.knownHosts,
      pid: process.pid,
      startedAt: startOf(process.pid) ?? '',
      servers: fleet.list(),
      control: `http://${host}:${ports.control}`,
      ...services.description,
      settings: settingsFor(services.description, host),
    });
    const changed = () =>
      writeFileAtomic(at.descriptionFile, `${JSON.stringify(describe(), null, 2)}\n`, 0o600);
    const control = createControl(host, { fleet, describe, changed, stop: () => stopping.resolve() });
    services.routes(control);
    await control.listen({ host, port: ports.control });
    changed();
    await Promise.race([
      stopping.promise,
      network.gone.then(() => Promise.reject(new Error('the namespace of the lab has ended by itself'))),
    ]);
    await Promise.all([control.close(), services.close()]);
  } finally {
    await network.close();
  }
}

/** Those that this version of Slipway has a use for. */
function settingsFor(
  { smtp, acme, dns }: Pick<LabDescription, 'smtp' | 'acme' | 'dns'>,
  host: string,
): Record<string, string> {
  const wanted: Record<string, string> = {
    // The lab's Git host has to reach the service with its webhooks.
    SLIPWAY_HOST: host,
    SLIPWAY_PUBLIC_URL: `http://${host}:${knownSettings.port.standard}`,
    // Nobody but this machine reaches the lab, though its address is none of loopback.
    SLIPWAY_REGISTRATION: 'open',
    SLIPWAY_SMTP_URL: smtp,
    SLIPWAY_MAIL_FROM: `Slipway <slipway@${zone}>`,
    SLIPWAY_ACME_DIRECTORY: acme.directory,
    SLIPWAY_ACME_CA_FILE: acme.caFile,
    SLIPWAY_DNS_SERVERS: `${dns.address}:${dns.port}`,
    SLIPWAY_ALLOW_PRIVATE_EGRESS: 'true',
    SLIPWAY_SERVER_NETWORKS: 'private',
  };
  const known = new Set(Object.values(knownSettings).map(({ env }) => env));
  return Object.fromEntries(Object.entries(wanted).filter(([each]) => known.has(each)));
}
