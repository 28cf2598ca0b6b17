/** Why a login failed, as a fault that a person can act on. */
import { errorText, Fault } from '../../fault.ts';
import type { HostKey } from './connection.ts';

interface LoginAttempt {
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly expectedHostKey?: string;
  readonly auth?: object;
}

export function loginFault(
  { host, port, username, expectedHostKey, auth }: LoginAttempt,
  error: unknown,
  offered: HostKey | undefined,
  offeredMethods: readonly string[] | undefined,
): Fault {
  const reason = error === undefined ? 'the connection was closed' : errorText(error);
  const details = { evidence: reason, cause: error };
  if (offered && expectedHostKey !== undefined && offered.fingerprint !== expectedHostKey) {
    return new Fault('host_key_changed', `${host} shows another host key than the one that was pinned.`, {
      hint: 'Compare the fingerprints on the server itself. If it was reinstalled, accept the new key; if not, someone may be intercepting the connection.',
      evidence: `pinned ${expectedHostKey}, offered ${offered.fingerprint} (${offered.type})`,
    });
  }
  if (offeredMethods) {
    const what = auth && 'password' in auth ? 'password' : 'key';
    return new Fault('login_refused', `${host} refused the ${what} of ${username}.`, {
      hint:
        what === 'key'
          ? `Check that the public key is in the file authorized_keys of ${username}, and that sshd lets this user in.`
          : 'Check the user name and the password, and that sshd takes passwords for this user.',
      evidence: `the server offers: ${offeredMethods.join(', ') || 'nothing'}`,
    });
  }
  if (/no matching/.test(reason)) {
    return new Fault('ssh_algorithms_weak', `${host} offers only SSH algorithms that are no longer safe.`, {
      hint: 'Update OpenSSH on the server, or take old restrictions out of its sshd_config.',
      ...details,
    });
  }
  if (offered) {
    return new Fault('remote_unreachable', `${host} closed the connection during the login.`, {
      hint: 'Its log (journalctl -u ssh) says why.',
      ...details,
    });
  }
  return new Fault(
    'remote_unreachable',
    `Port ${port} of ${host} accepts connections, but does not speak SSH.`,
    {
      hint: 'Check the port. A server that blocks this address for a while, as after failed logins, looks the same.',
      ...details,
    },
  );
}
