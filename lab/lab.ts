/**
 * `npm run lab -- <command>`: real servers on this machine, in seconds. Owns the words a person types; what they do
 * is `launch.ts` (up, down), the running lab's own control (reset, cut, heal, add, remove) and OpenSSH (ssh).
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { basename } from 'node:path';
import { readArguments } from '../scripts/arguments.ts';
import { root } from '../scripts/commands.ts';
import { building } from './build/building.ts';
import { LabClient } from './client.ts';
import { type LabDescription, readLab } from './description.ts';
import { launch, takeDown } from './launch.ts';
import { whyNot } from './needs.ts';
import { cacheDir } from './places.ts';
import { Progress } from './progress.ts';
import { isVariant, type VariantName, variants } from './servers/variants.ts';
import { shown } from './show.ts';
import { labNames } from './state.ts';

const usage = `Real servers on this machine, to try and to test Slipway with.

  npm run lab -- up [--servers N] [--with variant,…] [--json]   start it; the first time takes minutes
  npm run lab -- status [--json]        what is where
  npm run lab -- ssh <name> [command]   log in to a server
  npm run lab -- add <variant> [name]   one more server: ${Object.keys(variants).join(', ')}
  npm run lab -- remove <name>          one less
  npm run lab -- reset <name>           as on its first day (--new-host-keys: as another machine)
  npm run lab -- cut <name>             drop its network without closing connections
  npm run lab -- heal <name>            undo that
  npm run lab -- down                   stop everything and leave nothing behind
  npm run lab -- clean                  also remove the cached trees and images

  --name <lab>   another lab than this checkout's own (default: ${defaultName()})
`;

const options = {
  servers: { type: 'string', default: '2' },
  with: { type: 'string', default: '' },
  name: { type: 'string', default: defaultName() },
  json: { type: 'boolean', default: false },
  'new-host-keys': { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;
const typed = flagsFirst(process.argv.slice(2));
const { positionals, values } = readArguments({ allowPositionals: true, args: typed, options }, usage);
const [command = 'help', ...args] = positionals;

try {
  if (command === 'help' || values.help) say(usage);
  else await perform(command);
} catch (error) {
  process.stderr.write(`Lab: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

async function perform(what: string): Promise<void> {
  const reason = whyNot();
  if (reason) throw new Error(`${reason}.`);
  const { name } = values;
  if (!/^[a-z0-9][a-z0-9-]{0,40}$/.test(name))
    throw new Error(`«${name}» is no name for a lab: a-z, 0-9 and -.`);
  switch (what) {
    case 'up':
      return up(name);
    case 'status':
      return tell(await clientOf(name).describe());
    case 'ssh':
      return ssh(running(name), args);
    case 'add':
      return tell(
        await clientOf(name)
          .addServer(variantOf(args[0] ?? 'docker'), args[1])
          .then(() => clientOf(name).describe()),
      );
    case 'remove':
      return clientOf(name).removeServer(argument('name of a server'));
    case 'reset':
      await clientOf(name).reset(argument('name of a server'), { newHostKeys: values['new-host-keys'] });
      return;
    case 'cut':
      return clientOf(name).cut(argument('name of a server'));
    case 'heal':
      return clientOf(name).heal(argument('name of a server'));
    case 'down':
      return say((await takeDown(name)) ? `Lab «${name}» is down.\n` : `Lab «${name}» was not up.\n`);
    case 'clean':
      return clean(name);
    default:
      throw new Error(`«${what}» is no command of the lab. \`npm run lab\` lists them.`);
  }
}

async function up(name: string): Promise<void> {
  const there = readLab(name);
  if (there) return tell(await new LabClient(there.control).describe());
  const count = Number(values.servers);
  if (!Number.isInteger(count) || count < 0 || count > 50)
    throw new Error('--servers takes a number from 0 to 50.');
  const extra = values.with.split(',').filter(Boolean).map(variantOf);
  const servers = [...Array.from({ length: count }, (): VariantName => 'docker'), ...extra];
  tell(await launch(name, servers, new Progress()));
}

function ssh(lab: LabDescription, [name, ...words]: string[]): void {
  const server = lab.servers.find((each) => each.name === name);
  if (!server) {
    const known = lab.servers.map((each) => each.name).join(', ');
    throw new Error(`There is no server «${name ?? ''}» in this lab; there is: ${known}.`);
  }
  if (server.password) process.stderr.write(`The password of ${server.user} is ${server.password}\n`);
  const identity = server.keyFile ? ['-i', server.keyFile] : ['-o', 'PubkeyAuthentication=no'];
  const result = spawnSync(
    'ssh',
    [...identity, '-o', `UserKnownHostsFile=${lab.knownHosts}`, `${server.user}@${server.address}`, ...words],
    { stdio: 'inherit' },
  );
  process.exitCode = result.status ?? 1;
}

async function clean(name: string): Promise<void> {
  await takeDown(name);
  const others = labNames();
  if (others.length > 0) throw new Error(`The cache is in use by: ${others.join(', ')}.`);
  await building(async () => rmSync(cacheDir, { recursive: true, force: true }));
  say(existsSync(cacheDir) ? 'Something is left.\n' : 'The cached trees and images are gone.\n');
}

function running(name: string): LabDescription {
  const lab = readLab(name);
  if (!lab) throw new Error(`Lab «${name}» is not up. Start it with: npm run lab -- up`);
  return lab;
}

function clientOf(name: string): LabClient {
  return new LabClient(running(name).control);
}

function variantOf(name: string): VariantName {
  if (isVariant(name)) return name;
  throw new Error(`«${name}» is no variant of server; there is: ${Object.keys(variants).join(', ')}.`);
}

function argument(what: string): string {
  const [first] = args;
  if (!first) throw new Error(`This command needs the ${what}.`);
  return first;
}

function tell(lab: LabDescription): void {
  say(values.json ? `${JSON.stringify(lab, null, 2)}\n` : shown(lab));
}

function say(text: string): void {
  process.stdout.write(text);
}

/** One per checkout, so that two of them do not meet. */
function defaultName(): string {
  const folder =
    basename(root)
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replace(/^-+/, '') || 'lab';
  return `${folder.slice(0, 20)}-${createHash('sha256').update(root).digest('hex').slice(0, 6)}`;
}

/** What follows the name of a server after `ssh` belongs to ssh, dashes and all. */
function flagsFirst(given: string[]): string[] {
  const at = given.indexOf('ssh');
  return at === -1 || given.includes('--')
    ? given
    : [...given.slice(0, at + 2), '--', ...given.slice(at + 2)];
}
