/**
 * Git over https. A user name and a password reach git over a pair of connected sockets that only it and its children
 * have. There is no path to it, so nobody else can ask, and nothing of it stands in an argument, an environment or a file.
 */
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { Fault } from '../../../fault.ts';
import type { GitUrl } from '../git-url.ts';
import type { Setting } from '../run-git.ts';
import type { Address, Login, Transport } from './transport.ts';

/**
 * Constant. It passes on what git asks and what comes back, up to an empty line; `printf` and `read` are part of the
 * shell, so no further process sees the answer. Git appends the verb, hence the function.
 */
const helper =
  '!f() { test "$1" = get || return 0; cat >&3; echo >&3; ' +
  'while IFS= read -r line <&3 && test -n "$line"; do printf "%s\\n" "$line"; done; }; f';

const credentialSettings: readonly Setting[] = [['credential.helper', helper]];

const longestQuestion = 16_384;

export function httpTransport(
  url: GitUrl,
  login: Login | undefined,
  addresses: readonly Address[],
): Transport {
  if (login) checkLogin(login);
  const list = addresses.map(({ address }) => (isIP(address) === 6 ? `[${address}]` : address)).join(',');
  // The name is not asked for a second time: what was checked is what is connected to.
  const pinned: Setting[] =
    isIP(url.host) === 0 ? [['http.curloptResolve', `${url.host}:${url.port}:${list}`]] : [];
  return {
    settings: [...pinned, ...(login ? credentialSettings : [])],
    env: { GIT_ALLOW_PROTOCOL: url.scheme },
    withChannel: login !== undefined,
    attach: (channel) => {
      if (login) answerCredentials(channel, url, login);
    },
    said: () => '',
    secrets: login ? [login.password] : [],
    close: async () => undefined,
  };
}

export function checkLogin({ username, password }: Login): void {
  if (/[\0\r\n]/.test(username) || /[\0\r\n]/.test(password.reveal()))
    throw new Fault('invalid_input', 'The user name or the token of the repository has a line break in it.');
}

/** Answers for the one host that the credentials are for, and tells git to give up for any other. */
export function answerCredentials(channel: Duplex, url: GitUrl, login: Login): void {
  const port = /:\d+$/.exec(new URL(url.text).host)?.[0] ?? '';
  const host = `${url.host.includes(':') ? `[${url.host}]` : url.host}${port}`;
  let heard = '';
  channel.setEncoding('utf8');
  channel.on('data', (text: string) => {
    heard += text;
    if (heard.length > longestQuestion) channel.destroy();
    for (let end = heard.indexOf('\n\n'); end >= 0; end = heard.indexOf('\n\n')) {
      const asked = new Set(heard.slice(0, end).split('\n'));
      heard = heard.slice(end + 2);
      const isOurs = asked.has(`protocol=${url.scheme}`) && asked.has(`host=${host}`);
      channel.write(
        isOurs ? `username=${login.username}\npassword=${login.password.reveal()}\n\n` : 'quit=1\n\n',
      );
    }
  });
}
