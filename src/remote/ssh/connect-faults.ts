/** Why a login did not come about, in words that a person can act on. */
import { errorText, Fault } from '../../fault.ts';
import type { HostKey } from './connection.ts';

interface Attempt {
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly expectedHostKey?: string;
  readonly auth?: object;
}

export function whyRefused(
  { host, port, username, expectedHostKey, auth }: Attempt,
  error: unknown,
  shown: HostKey | undefined,
  offered: readonly string[] | undefined,
): Fault {
  const said = error === undefined ? 'the connection was closed' : errorText(error);
  const because = { evidence: said, cause: error };
  if (shown && expectedHostKey !== undefined && shown.fingerprint !== expectedHostKey) {
    return new Fault('host_key_changed', `${host} shows another host key than the one that was pinned.`, {
      hint: 'Compare the fingerprints on the server itself. If it was set up anew, accept the new key; if not, someone may stand between.',
      evidence: `pinned ${expectedHostKey}, offered ${shown.fingerprint} (${shown.type})`,
    });
  }
  if (offered) {
    const what = auth && 'password' in auth ? 'password' : 'key';
    return new Fault('login_refused', `${host} refused the ${what} of ${username}.`, {
      hint:
        what === 'key'
          ? `Check that the public key is in the file authorized_keys of ${username}, and that sshd lets this user in.`
          : 'Check the user name and the password, and that sshd takes passwords for this user.',
      evidence: `the server offers: ${offered.join(', ') || 'nothing'}`,
    });
  }
  if (/no matching/.test(said)) {
    return new Fault('ssh_algorithms_weak', `${host} offers only SSH algorithms that are no longer safe.`, {
      hint: 'Update OpenSSH on the server, or take old restrictions out of its sshd_config.',
      ...because,
    });
  }
  if (shown) {
    return new Fault('remote_unreachable', `${host} broke off the login.`, {
      hint: 'Its log (journalctl -u ssh) says why.',
      ...because,
    });
  }
  return new Fault(
    'remote_unreachable',
    `Port ${port} of ${host} takes connections, but does not speak SSH.`,
    {
      hint: 'Check the port. A server that blocks this address for a while, as after failed logins, looks the same.',
      ...because,
    },
  );
}
