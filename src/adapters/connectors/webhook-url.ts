/** Addresses of receivers: their form is checked when they are given, where they lead with each request. */
import Type from 'typebox';
import { Fault } from '../../fault.ts';
import { Secret } from '../../secret.ts';
import { type ConnectorKind, defineConnector, type Message } from './connector.ts';
import { type Post, postJson } from './post-json.ts';

const chatHosts = /(^|\.)(slack|slack-gov|discord|discordapp|office)\.com$|\.logic\.azure\.(com|us|cn)$/;

/** A chat that posts to a channel whatever comes to the address of a webhook, as often as it comes. */
export function defineChatWebhook(kind: {
  readonly type: string;
  readonly title: string;
  readonly description: string;
  readonly example: string;
  /** What it is called by those who make one. */
  readonly called: string;
  /** Host and path of such an address; its servers of one's own, where the kind has some, included. */
  readonly form: RegExp;
  readonly post: (webhookUrl: string, message: Message) => Post;
}): ConnectorKind {
  const webhookUrl = Type.String({
    minLength: 1,
    maxLength: 2_000,
    description: kind.description,
    examples: [kind.example],
  });
  return defineConnector({
    type: kind.type,
    Config: Type.Object({ webhookUrl }, { additionalProperties: false, title: kind.title }),
    canTellRepeats: false,
    check: (config, { allowPrivate }) => {
      const url = receiverUrl(config.webhookUrl, 'webhookUrl', allowPrivate);
      const { hostname, pathname } = new URL(url);
      // In a network of one's own anything may take the place of a chat, but for the chats that are known.
      const isFree = allowPrivate && !chatHosts.test(hostname);
      if (!isFree && !kind.form.test(`${hostname}${pathname}`))
        throw wrongConfig('webhookUrl', `is not the address of ${kind.called}, such as ${kind.example}`);
      return { webhookUrl: url };
    },
    target: (config) => shownUrl(config.webhookUrl),
    secrets: (config) => {
      const { pathname, searchParams } = new URL(config.webhookUrl);
      return [config.webhookUrl, pathname, ...searchParams.values()].map((each) => new Secret(each));
    },
    send: (config, message, transports, signal) =>
      postJson(transports, kind.post(config.webhookUrl, message), signal),
  });
}

/** As it is kept. Plain http only where this instance may reach its own network. */
export function receiverUrl(given: string, path: string, allowHttp: boolean): string {
  const url = URL.parse(given.trim());
  const schemes = allowHttp ? ['https:', 'http:'] : ['https:'];
  if (!url || url.hostname === '')
    throw wrongConfig(path, 'is not an address such as https://hooks.example.com/…');
  if (!schemes.includes(url.protocol)) throw wrongConfig(path, 'must begin with https://');
  if (url.username !== '' || url.password !== '')
    throw wrongConfig(path, 'must not carry a user name or a password');
  if (!allowHttp && url.port !== '' && Number(url.port) < 1024 && url.port !== '443')
    throw wrongConfig(path, 'must not name a port below 1024 other than 443');
  url.hash = '';
  return url.href;
}

/** What may be shown of it: the rest is the key to it. */
export function shownUrl(url: string): string {
  return `${new URL(url).origin}/…`;
}

export function wrongConfig(path: string, message: string): Fault {
  return new Fault('invalid_input', 'The connector cannot be set up like this.', {
    errors: [{ path: `config.${path}`, message }],
  });
}
