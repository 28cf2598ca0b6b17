/**
 * Enrols a server by password: it is used for one login that installs our key, and lets a user other than root use sudo
 * without a password. It is never stored. A login with the key verifies the result before anything is saved.
 */
import { Fault, type FaultCode } from '../../../fault.ts';
import type { ServerId } from '../../../ids.ts';
import { runOver } from '../../../remote/exec/run-over.ts';
import type { HostKeyFingerprint } from '../../../remote/remote.ts';
import { connectWith } from '../../../remote/ssh/connect.ts';
import type { Connection } from '../../../remote/ssh/connection.ts';
import type { Endpoint } from '../../../remote/ssh/tcp.ts';
import type { Secret } from '../../../secret.ts';

export interface LoginTarget extends Endpoint {
  readonly username: string;
  readonly expectedHostKey: HostKeyFingerprint | undefined;
}

export async function enrolByPassword(
  target: LoginTarget,
  password: Secret,
  keys: { readonly privateKey: Secret; readonly publicKey: string },
  id: ServerId,
): Promise<{ hostKey: HostKeyFingerprint }> {
  const { username } = target;
  const first = await connectUnsaved(target, { password });
  try {
    await runOrThrow(first, ['sh', '-euc', installKey, 'sh', keys.publicKey], '', {
      code: 'remote_failed',
      message: 'Our key could not be installed on the server.',
    });
    if (username !== 'root') await allowSudo(first, username, password, id);
  } finally {
    await first.close();
  }
  const hostKey = first.hostKey.fingerprint;
  const second = await connectUnsaved({ ...target, expectedHostKey: hostKey }, keys);
  try {
    if (username !== 'root') await requireSudo(second);
  } finally {
    await second.close();
  }
  return { hostKey };
}

/** A host key that the person gave is compared, and a mismatch named as such: it is a mistake of theirs, or an interception. */
export async function connectUnsaved(
  target: LoginTarget,
  auth: { readonly password: Secret } | { readonly privateKey: Secret },
  signal?: AbortSignal,
): Promise<Connection> {
  const { expectedHostKey, ...endpoint } = target;
  try {
    return await connectWith({
      ...endpoint,
      auth,
      ...(expectedHostKey && { expectedHostKey }),
      ...(signal && { signal }),
    });
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'host_key_changed') throw error;
    throw new Fault('host_key_mismatch', 'The server shows another host key than the one you gave.', {
      hint: 'Compare it with `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub` on the server’s own console.',
      ...(error.evidence && { evidence: error.evidence }),
      cause: error,
    });
  }
}

export function requireSudo(connection: Connection): Promise<void> {
  return runOrThrow(connection, ['sudo', '-n', '--', 'true'], '', {
    code: 'sudo_refused',
    message: 'The user may not become root without a password.',
    hint: 'Allow it with a line `<user> ALL=(ALL) NOPASSWD: ALL` in a file in /etc/sudoers.d, or register as root.',
  });
}

/** The password goes by standard input, where no list of processes shows it. */
function allowSudo(connection: Connection, user: string, password: Secret, id: ServerId): Promise<void> {
  const script = ['sh', '-euc', installSudo, 'sh', user, `/etc/sudoers.d/90-slipway-${id}`];
  return runOrThrow(connection, ['sudo', '-S', '-p', '', '--', ...script], `${password.reveal()}\n`, {
    code: 'sudo_refused',
    message: 'The user could not become root with this password.',
    hint: 'The user has to be allowed to use sudo, in Debian by the group `sudo`.',
  });
}

interface Refusal {
  readonly code: FaultCode;
  readonly message: string;
  readonly hint?: string;
}

async function runOrThrow(
  connection: Connection,
  argv: readonly string[],
  input: string,
  { code, message, hint }: Refusal,
): Promise<void> {
  const outcome = await runOver(connection, argv, { input });
  if (outcome.code === 0) return;
  const evidence = outcome.stderr.toString('utf8').trim().slice(-300);
  throw new Fault(code, message, { evidence, ...(hint && { hint }) });
}

/** Idempotent; existing lines stay. */
const installKey = `
umask 077
mkdir -p "$HOME/.ssh"
file=$HOME/.ssh/authorized_keys
touch "$file"
grep -qxF -e "$1" "$file" || {
  # A last line without an end would swallow ours.
  [ ! -s "$file" ] || [ "$(tail -c 1 "$file" | wc -l)" -eq 1 ] || echo >> "$file"
  printf '%s\\n' "$1" >> "$file"
}
`;

const installSudo = `
umask 337
draft=$(mktemp /etc/sudoers.d/.slipway.XXXXXX)
printf '%s ALL=(ALL) NOPASSWD: ALL\\n' "$1" > "$draft"
chmod 440 "$draft"
visudo -cqf "$draft"
mv -T "$draft" "$2"
`;
