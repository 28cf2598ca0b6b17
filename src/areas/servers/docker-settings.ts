/**
 * Settings of the Docker daemon: containers keep running while it restarts, and their logs do not fill the disk. Only what
 * is not set is set: someone may have had a reason.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../fault.ts';
import type { Remote } from '../../remote/remote.ts';

const path = '/etc/docker/daemon.json';

/** Returns the names of those that had to be set. */
export async function ensureDockerSettings(remote: Remote): Promise<string[]> {
  const text = (await remote.readFile(path))?.toString('utf8') ?? '{}';
  const { before, added } = missingSettings(text);
  const names = Object.keys(added);
  if (names.length === 0) return [];
  await remote.writeFile(path, `${JSON.stringify({ ...before, ...added }, null, 2)}\n`, { mode: 0o644 });
  await remote.output(['systemctl', 'reload', 'docker']);
  return names;
}

/**
 * Swarm mode and live-restore exclude each other: a member of a cluster has it off by name, so that nobody turns it on. What
 * Docker says counts, not the file: one that was starting may have read the file before it was written, and takes no reload then.
 */
export async function setLiveRestore(
  remote: Remote,
  isOn: boolean,
  hasIt: () => Promise<boolean>,
): Promise<void> {
  const before = parse((await remote.readFile(path))?.toString('utf8') ?? '{}');
  if (before['live-restore'] !== isOn) {
    const text = JSON.stringify({ ...before, 'live-restore': isOn }, null, 2);
    await remote.writeFile(path, `${text}\n`, { mode: 0o644 });
  }
  for (let reloads = 0; (await hasIt()) !== isOn; reloads += 1) {
    // One that is being restarted may refuse it.
    const { stderr } = await remote.run(['systemctl', 'reload', 'docker']);
    if (reloads === mostReloads) throw notTaken(isOn, stderr.toString());
    await sleep(reloadMs);
  }
}

const mostReloads = 20;
const reloadMs = 250;

function notTaken(isOn: boolean, evidence: string): Fault {
  return new Fault('remote_failed', `Docker does not turn live-restore ${isOn ? 'on' : 'off'}.`, {
    hint: `Look for \`--live-restore\` in the unit of Docker, which ${path} cannot change, and into \`journalctl -u docker\`.`,
    ...(evidence && { evidence }),
  });
}

interface Settings {
  readonly before: Readonly<Record<string, unknown>>;
  readonly added: Readonly<Record<string, unknown>>;
}

export function missingSettings(text: string): Settings {
  const before = parse(text);
  const added: Record<string, unknown> = {};
  if (!('live-restore' in before)) added['live-restore'] = true;
  const hasOwnLogs = 'log-driver' in before && before['log-driver'] !== 'json-file';
  if (!hasOwnLogs && !('log-opts' in before)) {
    added['log-driver'] = 'json-file';
    added['log-opts'] = { 'max-size': '10m', 'max-file': '3' };
  }
  return { before, added };
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text.trim() === '' ? '{}' : text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch (cause) {
    throw broken(cause);
  }
  throw broken(undefined);
}

function broken(cause: unknown): Fault {
  return new Fault('remote_failed', `${path} on the server is not a JSON object, so it was not changed.`, {
    hint: 'Correct the file, then provision the server again.',
    cause,
  });
}
