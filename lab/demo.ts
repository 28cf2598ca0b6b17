/**
 * `npm run demo`: a lab, Slipway, and a first project on it, from nothing to a page behind TLS with its database and a
 * proven backup. It stays until `npm run demo -- down`, which leaves nothing.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from '../scripts/commands.ts';
import { demoStory, password } from './demo-story.ts';
import { type LabDescription, readLab } from './description.ts';
import { launch, takeDown } from './launch.ts';
import { whyNot } from './needs.ts';
import { startOf } from './processes.ts';
import { Progress } from './progress.ts';

const lab = 'demo';
const folder = '/var/lib/slipway-demo';
const places = {
  data: join(folder, 'data'),
  service: join(folder, 'service.json'),
  log: join(folder, 'log'),
};
const startWithinMs = 180_000;

try {
  const reason = whyNot();
  if (reason) throw new Error(`${reason}.`);
  const [what = 'up', ...more] = process.argv.slice(2);
  if (what === 'up' && more.length === 0) await up();
  else if (what === 'down' && more.length === 0) await down();
  else
    throw new Error(
      `«${process.argv.slice(2).join(' ')}» is not known. \`npm run demo\`, or \`npm run demo -- down\`.`,
    );
} catch (error) {
  process.stderr.write(`Demo: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

async function up(): Promise<void> {
  if (readLab(lab) || existsSync(folder))
    throw new Error('There is a demo already. `npm run demo -- down` ends it.');
  const progress = new Progress();
  try {
    const about = await launch(lab, ['docker'], progress);
    const url = await progress.step('Slipway, with a database of its own', () => startSlipway(about));
    const shown = await demoStory(url, about, join(places.data, 'outbox'), progress);
    process.stdout.write(`
Your application   ${shown.url}
  from here        curl --cacert ${shown.caFile} --resolve ${shown.hostname}:443:${shown.address} ${shown.url}/notes
  its own port     ${shown.plainUrl}
Slipway's API      ${url}/api/v1
  its documents    ${url}/api/docs
  sign in as       ${shown.email}, ${password}
The server         npm run lab -- ssh ${about.servers[0]?.name} --name ${lab}
The backup         ${shown.backup}
A push             commit to ${shown.repository}: it is deployed by itself

npm run demo -- down   ends all of it, and leaves nothing
`);
  } catch (error) {
    progress.say(`What Slipway said last is in ${places.log}. \`npm run demo -- down\` clears up.`);
    throw error;
  }
}

/** Lives on when this process is gone. */
async function startSlipway({ settings }: LabDescription): Promise<string> {
  mkdirSync(folder, { mode: 0o711 });
  const output = openSync(places.log, 'w', 0o600);
  // Mails are read from the outbox, as a person would read them.
  const { SLIPWAY_SMTP_URL: _, SLIPWAY_MAIL_FROM: __, ...used } = settings;
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('SLIPWAY_'));
  const child = spawn(process.execPath, [join(root, 'src/main.ts')], {
    ...{ cwd: root, detached: true, stdio: ['ignore', output, output] },
    env: { ...Object.fromEntries(own), ...used, SLIPWAY_DATA_DIR: places.data, SLIPWAY_LOG_LEVEL: 'warn' },
  });
  const { pid } = child;
  if (pid === undefined) throw new Error('Slipway could not be started.');
  writeFileSync(places.service, JSON.stringify({ pid, startedAt: startOf(pid) }));
  child.unref();
  const deadline = Date.now() + startWithinMs;
  while (Date.now() < deadline) {
    const said = readFileSync(places.log, 'utf8');
    const [, url] = /Slipway is running at (http:\/\/\S+)\/api\/v1\n/.exec(said) ?? [];
    if (url !== undefined) return url;
    if (startOf(pid) === undefined) throw new Error(`Slipway did not start:\n${said}`);
    await sleep(50);
  }
  throw new Error('Slipway did not start in time.');
}

async function down(): Promise<void> {
  const wasThere = existsSync(folder) || readLab(lab) !== undefined;
  if (existsSync(places.service)) {
    const { pid, startedAt } = Object(JSON.parse(readFileSync(places.service, 'utf8')));
    if (startOf(pid) === startedAt) process.kill(pid, 'SIGTERM');
    while (startOf(pid) === startedAt) await sleep(50);
  }
  await takeDown(lab);
  rmSync(folder, { recursive: true, force: true });
  process.stdout.write(wasThere ? 'The demo is gone.\n' : 'There was no demo.\n');
}
