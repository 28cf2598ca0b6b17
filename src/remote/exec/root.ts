/** Becoming root: asked once a connection, and never with a password. */
import { Fault } from '../../fault.ts';
import type { Connection } from '../ssh/connection.ts';
import type { Limit } from '../ssh/deadline.ts';
import { collect } from './collect.ts';
import { RemoteProcess } from './remote-process.ts';

const maxBytes = 64 * 1024;

/** Whether root's commands have to go through sudo here. Fails with `sudo_refused` where that is not allowed. */
export async function needsSudo(connection: Connection, limit: Limit): Promise<boolean> {
  connection.isRoot ??= (await ask(connection, ['id', '-u'], false, limit)).stdout.trim() === '0';
  if (connection.isRoot) return false;
  if (!connection.maySudo) {
    const { code, stderr } = await ask(connection, ['true'], true, limit);
    if (code !== 0) throw sudoRefused(stderr);
    connection.maySudo = true;
  }
  return true;
}

export function sudoRefused(said: string): Fault {
  return new Fault('sudo_refused', 'The user may not become root on the server without a password.', {
    hint: 'Let the user run every command by sudo with NOPASSWD, or log in as root.',
    evidence: said.trim().slice(-500),
  });
}

async function ask(connection: Connection, argv: readonly string[], viaSudo: boolean, limit: Limit) {
  const process = await limit.race(RemoteProcess.start(connection, argv, viaSudo));
  const collected = collect(process, maxBytes);
  process.channel.end();
  const { code } = await limit.race(process.ended);
  const { stdout, stderr } = collected();
  return { code, stdout: stdout.toString('latin1'), stderr: stderr.toString('latin1') };
}
