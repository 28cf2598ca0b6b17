/** Root by sudo: checked once a connection, and never with a password. */
import { Fault } from '../../fault.ts';
import type { Connection } from '../ssh/connection.ts';
import type { Deadline } from '../ssh/deadline.ts';
import { RemoteProcess } from './remote-process.ts';

const maxBytes = 64 * 1024;

/** Whether root's commands have to go through sudo here. Fails with `sudo_refused` where that is not allowed. */
export async function needsSudo(connection: Connection, deadline: Deadline): Promise<boolean> {
  connection.isRoot ??= (await query(connection, ['id', '-u'], false, deadline)).stdout.trim() === '0';
  if (connection.isRoot) return false;
  if (!connection.maySudo) {
    const { code, stderr } = await query(connection, ['true'], true, deadline);
    if (code !== 0) throw sudoRefused(stderr);
    connection.maySudo = true;
  }
  return true;
}

export function sudoRefused(stderr: string): Fault {
  return new Fault('sudo_refused', 'The user may not become root on the server without a password.', {
    hint: 'Let the user run every command by sudo with NOPASSWD, or log in as root.',
    evidence: stderr.trim().slice(-500),
  });
}

async function query(connection: Connection, argv: readonly string[], viaSudo: boolean, deadline: Deadline) {
  const process = await deadline.race(RemoteProcess.start(connection, argv, viaSudo));
  const collected = process.collect(maxBytes);
  process.channel.end();
  const { code } = await deadline.race(process.ended);
  const { stdout, stderr } = collected();
  return { code, stdout: stdout.toString('latin1'), stderr: stderr.toString('latin1') };
}
