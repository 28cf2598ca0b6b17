/**
 * Discord, Telegram and Teams, as far as somebody who sends messages to them sees it: each takes what its maker's
 * schema allows, refuses everything else as that one does, and keeps what it took. Beside them an address whose
 * certificate nobody trusts.
 */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../command.ts';
import { type Answer, Answers, type PathAnswer } from './catcher/answers.ts';
import { Inbox } from './control/inbox.ts';
import { type ReceiverName, wrongWith } from './receivers-checks.ts';

export interface ReceivedMessage {
  readonly id: string;
  readonly time: string;
  readonly receiver: ReceiverName;
  readonly path: string;
  readonly body: unknown;
}

/** What a connector is set up with to send to each of them. */
export interface ReceiverAddresses {
  readonly discord: { readonly webhookUrl: string };
  readonly telegram: { readonly botToken: string; readonly chatId: string; readonly apiUrl: string };
  readonly teams: { readonly webhookUrl: string };
  readonly wrongCertificate: string;
}

export interface LabReceivers {
  readonly addresses: ReceiverAddresses;
  messages(receiver?: ReceiverName): ReceivedMessage[];
  next(
    receiver: ReceiverName | undefined,
    timeoutMs: number,
    stop?: AbortSignal,
  ): Promise<ReceivedMessage | undefined>;
  clear(): void;
  /** What a path is answered from now on, instead of what its maker would. */
  answer(path: string, answer: Answer | undefined): void;
  answers(): PathAnswer[];
  close(): Promise<void>;
}

const botToken = '1000000001:LabLabLabLabLabLabLabLabLabLabLabLab';
const chatId = '-1001000000001';
const paths = {
  discord: '/api/webhooks/100000000000000001/lab-discord-token',
  telegram: `/bot${botToken}/sendMessage`,
  teams: '/workflows/lab/triggers/manual/paths/invoke',
} as const;

export async function startReceivers(options: {
  address: string;
  port: number;
  tlsPort: number;
}): Promise<LabReceivers> {
  const { address } = options;
  const inbox = new Inbox<ReceivedMessage>(({ receiver }) => [receiver]);
  const answers = new Answers();
  let count = 0;
  const keep = (receiver: ReceiverName, path: string, body: unknown) => {
    count += 1;
    inbox.put({ id: String(count), time: new Date().toISOString(), receiver, path, body });
    return count;
  };
  const server = createServer(async (request, response) => {
    const bytes = Buffer.concat(await request.toArray()).toString('utf8');
    const url = new URL(request.url ?? '/', 'http://lab');
    const planned = answers.list().some(({ path }) => path === url.pathname)
      ? answers.take(url.pathname)
      : undefined;
    if (planned) {
      asPlanned(response, planned);
      return;
    }
    const isJson = /^application\/json\b/.test(request.headers['content-type'] ?? '');
    const { status, body } = asItsMaker(request.method, { url, bytes, isJson, keep });
    response.writeHead(status, body === undefined ? {} : { 'content-type': 'application/json' });
    response.end(body === undefined ? '' : JSON.stringify(body));
  });
  const tls = await startUntrusted();
  const port = await listen(server, options.port, address);
  const tlsPort = await listen(tls, options.tlsPort, address);
  const base = `http://${address}:${port}`;
  return {
    addresses: {
      discord: { webhookUrl: `${base}${paths.discord}` },
      telegram: { botToken, chatId, apiUrl: base },
      teams: { webhookUrl: `${base}${paths.teams}?sig=lab-teams-signature` },
      wrongCertificate: `https://${address}:${tlsPort}/hook`,
    },
    messages: (receiver) => inbox.list(receiver),
    next: async (receiver, timeoutMs, stop) => inbox.next(receiver, timeoutMs, stop),
    clear: () => inbox.clear(),
    answer: (path, answer) => answers.set(path, answer),
    answers: () => answers.list(),
    close: async () => {
      inbox.close();
      await Promise.all([server, tls].map(close));
    },
  };
}

type Keep = (receiver: ReceiverName, path: string, body: unknown) => number;

interface Reply {
  readonly status: number;
  readonly body?: unknown;
}

interface Asked {
  readonly url: URL;
  readonly bytes: string;
  readonly isJson: boolean;
  readonly keep: Keep;
}

function asItsMaker(method: string | undefined, asked: Asked): Reply {
  const { pathname } = asked.url;
  if (method !== 'POST') return { status: 405, body: { message: '405: Method Not Allowed', code: 0 } };
  if (pathname.startsWith('/api/webhooks/')) return discord(asked);
  if (pathname.startsWith('/bot')) return telegram(asked);
  return teams(asked);
}

function wrongIn(receiver: ReceiverName, { isJson, bytes }: Asked): string | undefined {
  return isJson ? wrongWith(receiver, bytes) : 'not application/json';
}

function discord(asked: Asked): Reply {
  const { pathname, searchParams } = asked.url;
  if (pathname !== paths.discord) return { status: 404, body: { message: 'Unknown Webhook', code: 10015 } };
  const wrong = wrongIn('discord', asked);
  if (wrong !== undefined)
    return { status: 400, body: { message: 'Invalid Form Body', code: 50035, errors: { lab: wrong } } };
  const id = asked.keep('discord', pathname, JSON.parse(asked.bytes));
  if (searchParams.get('wait') !== 'true') return { status: 204 };
  return { status: 200, body: { id: String(id), type: 0, channel_id: '1' } };
}

function telegram(asked: Asked): Reply {
  const { pathname } = asked.url;
  const refuse = (status: number, description: string): Reply => ({
    status,
    body: { ok: false, error_code: status, description },
  });
  if (pathname !== paths.telegram) return refuse(401, 'Unauthorized');
  const wrong = wrongIn('telegram', asked);
  if (wrong !== undefined) return refuse(400, `Bad Request: ${wrong}`);
  const body = JSON.parse(asked.bytes);
  if (String(body.chat_id) !== chatId) return refuse(400, 'Bad Request: chat not found');
  const id = asked.keep('telegram', pathname, body);
  const result = { message_id: id, date: Math.floor(Date.now() / 1000), chat: { id: Number(chatId) } };
  return { status: 200, body: { ok: true, result } };
}

function teams(asked: Asked): Reply {
  const { pathname } = asked.url;
  const refuse = (status: number, code: string, message: string): Reply => ({
    status,
    body: { error: { code, message } },
  });
  if (pathname !== paths.teams) return refuse(404, 'WorkflowNotFound', 'The workflow could not be found.');
  const wrong = wrongIn('teams', asked);
  if (wrong !== undefined) return refuse(400, 'TriggerInputSchemaMismatch', wrong);
  asked.keep('teams', pathname, JSON.parse(asked.bytes));
  return { status: 202 };
}

function asPlanned(response: ServerResponse, answer: Answer): void {
  const reply = () => {
    if (answer.hangUp) response.destroy();
    else response.writeHead(answer.status ?? 200, answer.headers ?? {}).end(answer.body ?? '');
  };
  const timer = setTimeout(reply, answer.delayMs ?? 0);
  response.once('close', () => clearTimeout(timer));
}

/** Signed by itself, for a name that is not the address. */
async function startUntrusted(): Promise<TlsServer> {
  const dir = mkdtempSync(join(tmpdir(), 'slipway-lab-tls-'));
  try {
    const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-noenc'];
    const files = ['-keyout', 'key.pem', '-out', 'cert.pem', '-subj', '/CN=elsewhere.invalid', '-days', '30'];
    await run('openssl', ['req', '-x509', ...ec, ...files], { cwd: dir });
    const [key, cert] = ['key.pem', 'cert.pem'].map((name) => readFileSync(join(dir, name)));
    return createTlsServer({ ...(key && { key }), ...(cert && { cert }) }, (_request, response) =>
      response.end('ok'),
    );
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function listen(server: Server | TlsServer, port: number, address: string): Promise<number> {
  server.listen(port, address);
  await once(server, 'listening');
  const bound = server.address();
  if (typeof bound !== 'object' || bound === null)
    throw new Error('The receivers have no port, though they listen.');
  return bound.port;
}

async function close(server: Server | TlsServer): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
