/**
 * `npm run demo`: a lab, Slipway, and a first project on it, from nothing to a page behind TLS with its database and a
 * proven backup. It stays until `npm run demo -- down`, which leaves nothing. `--name` makes another one beside it.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readArguments } from '../scripts/arguments.ts';
import { root } from '../scripts/commands.ts';
import { demoStory, password } from './demo-story.ts';
import { type LabDescription, readLab } from './description.ts';
import { launch, takeDown } from './launch.ts';
import { whyNot } from './needs.ts';
import { startOf } from './processes.ts';
import { Progress } from './progress.ts';

const startWithinMs = 180_000;
const usage = '`npm run demo`, or `npm run demo -- down`; both take --name.';

/** Where a demo keeps its things, and how it is ended. */
interface Demo {
  readonly lab: string;
  readonly folder: string;
  readonly data: string;
  readonly service: string;
  readonly log: string;
  readonly downCommand: string;
}

try {
  const reason = whyNot();
  if (reason) throw new Error(`${reason}.`);
  const options = { name: { type: 'string' } } as const;
  const { positionals, values } = readArguments({ allowPositionals: true, options }, usage);
  const [what = 'up', ...more] = positionals;
  const demo = demoOf(values.name);
  if (what === 'up' && more.length === 0) await up(demo);
  else if (what === 'down' && more.length === 0) await down(demo);
  else throw new Error(`«${positionals.join(' ')}» is not known. ${usage}`);
} catch (error) {
  process.stderr.write(`Demo: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

function demoOf(name: string | undefined): Demo {
  if (name !== undefined && !/^[a-z0-9][a-z0-9-]{0,30}$/.test(name))
    throw new Error(`«${name}» is no name for a demo: a-z, 0-9 and -.`);
  const lab = name === undefined ? 'demo' : `demo-${name}`;
  const folder = `/var/lib/slipway-${lab}`;
  return {
    lab,
    folder,
    data: join(folder, 'data'),
    service: join(folder, 'service.json'),
    log: join(folder, 'log'),
    downCommand: `npm run demo -- down${name === undefined ? '' : ` --name ${name}`}`,
  };
}

async function up(demo: Demo): Promise<void> {
  const { lab, folder, downCommand } = demo;
  if (readLab(lab) || existsSync(folder))
    throw new Error(`There is a demo already. \`${downCommand}\` ends it.`);
  const progress = new Progress();
  try {
    const about = await launch(lab, ['docker'], progress);
    const url = await progress.step('Slipway, with a database of its own', () => startSlipway(demo, about));
    const shown = await demoStory(url, about, join(demo.data, 'outbox'), progress);
    process.stdout.write(`
Your application   ${shown.url}
  from here        curl --cacert ${shown.caFile} --resolve ${shown.hostname}:443:${shown.address} ${shown.url}/notes
  its own port     ${shown.plainUrl}
The dashboard      ${url}
Slipway's API      ${url}/api/v1
  its documents    ${url}/api/docs
  sign in as       ${shown.email}, ${password}
The server         npm run lab -- --name ${lab} ssh ${about.servers[0]?.name}
The backup         ${shown.backup}
A push             commit to ${shown.repository}: it is deployed by itself

${downCommand}   ends all of it, and leaves nothing
`);
  } catch (error) {
    progress.say(`What Slipway said last is in ${demo.log}. \`${downCommand}\` clears up.`);
    throw error;
  }
}

/** Lives on when this process is gone. */
async function startSlipway(demo: Demo, { settings }: LabDescription): Promise<string> {
  mkdirSync(demo.folder, { mode: 0o711 });
  const output = openSync(demo.log, 'w', 0o600);
  // Mails are read from the outbox, as a person would read them.
  const { SLIPWAY_SMTP_URL: _, SLIPWAY_MAIL_FROM: __, ...used } = settings;
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('SLIPWAY_'));
  const child = spawn(process.execPath, ['scripts/run.mjs', '--service', 'src/main.ts'], {
    cwd: root,
    detached: true,
    stdio: ['ignore', output, output],
    env: { ...Object.fromEntries(own), ...used, SLIPWAY_DATA_DIR: demo.data, SLIPWAY_LOG_LEVEL: 'warn' },
  });
  const { pid } = child;
  if (pid === undefined) throw new Error('Slipway could not be started.');
  writeFileSync(demo.service, JSON.stringify({ pid, startedAt: startOf(pid) }));
  child.unref();
  const deadline = Date.now() + startWithinMs;
  while (Date.now() < deadline) {
    const said = readFileSync(demo.log, 'utf8');
    const [, url] = /Slipway is running at (http:\/\/\S+)\/api\/v1\n/.exec(said) ?? [];
    if (url !== undefined) return url;
    if (startOf(pid) === undefined) throw new Error(`Slipway did not start:\n${said}`);
    await sleep(50);
  }
  throw new Error('Slipway did not start in time.');
}

async function down({ lab, folder, service }: Demo): Promise<void> {
  const wasThere = existsSync(folder) || readLab(lab) !== undefined;
  if (existsSync(service)) {
    const { pid, startedAt } = Object(JSON.parse(readFileSync(service, 'utf8')));
    if (startOf(pid) === startedAt) process.kill(pid, 'SIGTERM');
    while (startOf(pid) === startedAt) await sleep(50);
  }
  await takeDown(lab);
  rmSync(folder, { recursive: true, force: true });
  process.stdout.write(wasThere ? 'The demo is gone.\n' : 'There was no demo.\n');
}
